package workload

import "math/rand/v2"

// A Choice says how clients choose among keys 0..n-1.
type Choice struct {
	kind     choiceKind
	exponent float64    // zipf and latest
	hot      [2]float64 // hotspot: the share of keys that are hot, and of requests that go there
}

type choiceKind uint8

const (
	uniform choiceKind = iota
	zipfian
	hotspot
	latest
	sequential
)

// usualExponent is that of YCSB's zipfian workloads.
const usualExponent = 0.99

// ParseChoice reads how keys are chosen:
//
//	uniform            all alike
//	zipf               key k as often as (k+1)^-0.99, as YCSB has it
//	zipf 1.2           with another exponent, above 0 and up to 10
//	hotspot 1% 90%     a hundredth of the keys get nine tenths of the requests
//	latest             writes go through all keys in order, and reads go to what
//	                   this client has written last, by zipf; also: latest 1.2
//	sequential         all clients together go through the keys in order
//
// The error wraps [ErrChoice].
func ParseChoice(text string) (Choice, error) {
	words := Words(text, 1)
	if len(words) == 0 {
		return Choice{}, Fault(ErrChoice, 1, "it is empty")
	}
	var c Choice
	var err error
	rest := words[1:]
	most := 0
	switch words[0].Text {
	case "uniform":
		c.kind = uniform
	case "sequential":
		c.kind = sequential
	case "zipf":
		c.kind, c.exponent, most = zipfian, usualExponent, 1
	case "latest":
		c.kind, c.exponent, most = latest, usualExponent, 1
	case "hotspot":
		c.kind = hotspot
		c.hot, err = words[0].Hotspot(ErrChoice, rest, "hotspot 1% 90%")
		return c, err
	default:
		return c, words[0].Fault(ErrChoice, "%.40q: want uniform, zipf, hotspot, latest or sequential", words[0].Text)
	}
	if err = AtMost(most, ErrChoice, rest); err == nil && len(rest) == 1 {
		c.exponent, err = rest[0].Float(ErrChoice, 0.01, 10)
	}
	return c, err
}

// A chooser chooses for one client.
type chooser struct {
	Choice
	keys int64
	many int64 // hotspot: how many are hot
	zipf *Zipf
	step int64 // sequential: how many clients there are
	at   int64 // sequential: the next; latest: the next to write
}

// chooser returns one for client i of clients.
func (c Choice) chooser(keys int64, i, clients int) *chooser {
	k := &chooser{Choice: c, keys: keys, step: int64(clients), at: int64(i) % keys}
	switch c.kind {
	case zipfian:
		k.zipf = NewZipf(keys, c.exponent)
	case latest:
		k.zipf = NewZipf(keys, c.exponent)
		k.at = keys / int64(clients) * int64(i)
	case hotspot:
		k.many = min(max(int64(c.hot[0]*float64(keys)), 1), keys)
	}
	return k
}

func (c *chooser) next(rnd *rand.Rand, write bool) int64 {
	switch c.kind {
	case zipfian:
		return c.zipf.Draw(rnd)
	case hotspot:
		if c.many == c.keys || rnd.Float64() < c.hot[1] {
			return rnd.Int64N(c.many)
		}
		return c.many + rnd.Int64N(c.keys-c.many)
	case latest:
		if write {
			k := c.at
			c.at = (c.at + 1) % c.keys
			return k
		}
		return (c.at - 1 - c.zipf.Draw(rnd) + 2*c.keys) % c.keys
	case sequential:
		k := c.at
		c.at = (c.at + c.step) % c.keys
		return k
	}
	return rnd.Int64N(c.keys)
}
