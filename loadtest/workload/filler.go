package workload

import "math/rand/v2"

// A Filler writes keys that it is told to write, before clients begin. What it writes is
// stamped as that of a client of its own, and follows from the seed and from how many it
// has written. It belongs to one goroutine.
type Filler struct {
	cfg    *Config
	number int
	rnd    *rand.Rand
	op     Op
	writes uint64
	buf    []byte
}

// Filler returns filler i, counted from 0 on, of a valid configuration. Its client number
// follows those of the clients.
func (c *Config) Filler(i int) *Filler {
	number := c.Clients + i
	return &Filler{cfg: c, number: number, rnd: rand.New(rand.NewPCG(c.Seed, uint64(number)))}
}

var setName = []byte("SET")

// Write is a SET of a key, for good, to a value that nobody has written before. If the mix
// counts, and writes no values, it is the number 0.
func (f *Filler) Write(key int64) *Op {
	f.writes++
	o := &f.op
	o.Write = f.writes
	o.Keys = append(o.Keys[:0], key)
	f.buf = f.cfg.AppendKey(f.buf[:0], key)
	end := len(f.buf)
	switch {
	case f.cfg.Mix.counts():
		f.buf = append(f.buf, '0')
	case f.cfg.Stamped:
		s := Stamp{Key: uint64(key), Client: uint32(f.number), Write: f.writes}
		f.buf = s.append(f.buf, f.cfg.Sizes.draw(f.rnd))
	default:
		f.buf = fill(f.buf, f.rnd.Uint32(), f.cfg.Sizes.draw(f.rnd))
	}
	o.Args = append(o.Args[:0], setName, f.buf[:end:end], f.buf[end:])
	return o
}

// counts reports whether the mix has a command that needs numbers, and none that writes a
// value.
func (m *Mix) counts() bool {
	counts := false
	for i := range m.Commands {
		c := &m.Commands[i]
		switch c.Name {
		case "INCR", "DECR", "INCRBY", "DECRBY", "INCRBYFLOAT":
			counts = true
		}
		for _, a := range c.args {
			if a.kind == aValue {
				return false
			}
		}
	}
	return counts
}
