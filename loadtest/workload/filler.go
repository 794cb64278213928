package workload

import "math/rand/v2"

// A Filler writes keys that it is told to write, before clients begin. What it writes is
// stamped as that of a client of its own, and follows from the seed and from how many it
// has written. It belongs to one goroutine.
type Filler struct{ client Client }

// Filler returns filler i, counted from 0 on, of a valid configuration. Its client number
// follows those of the clients.
func (c *Config) Filler(i int) *Filler {
	number := c.Clients + i
	return &Filler{Client{cfg: c, number: number, rnd: rand.New(rand.NewPCG(c.Seed, uint64(number)))}}
}

var setName = []byte("SET")

// Write is a SET of a key, for good, to a value that nobody has written before. If the mix
// counts, and writes no values, it is the number 0.
func (f *Filler) Write(key int64) *Op {
	c, o := &f.client, &f.client.op
	c.writes++
	o.Write = c.writes
	o.Keys = append(o.Keys[:0], key)
	c.buf = c.cfg.AppendKey(c.buf[:0], key)
	end := len(c.buf)
	if c.cfg.Mix.counts() {
		c.buf = append(c.buf, '0')
	} else {
		c.buf = c.value(o)
	}
	o.Args = append(o.Args[:0], setName, c.buf[:end:end], c.buf[end:])
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
