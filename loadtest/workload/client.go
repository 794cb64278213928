package workload

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// An Op is one command that a client asks for. What it points to is good until the
// client's next.
type Op struct {
	// Command is which of the mix.
	Command int
	// Args are the command's name and its arguments.
	Args [][]byte
	// Keys are the numbers of the keys among them.
	Keys []int64
	// At is when it is to begin, after the beginning, in an open loop.
	At time.Duration
	// Write is the number of this client's write, from 1 on, if it is one.
	Write uint64
}

// A Client is what one of many asks for, one after the other. It belongs to one goroutine.
type Client struct {
	cfg     *Config
	number  int
	rnd     *rand.Rand
	chooser *chooser
	op      Op
	done    int64
	writes  uint64
	buf     []byte
	ends    []int
}

// Client returns client i, counted from 0 on, of a valid configuration.
func (c *Config) Client(i int) *Client {
	return &Client{
		cfg: c, number: i, rnd: rand.New(rand.NewPCG(c.Seed, uint64(i))),
		chooser: c.Choice.chooser(c.keys(), i, c.Clients),
	}
}

// Next is what the client asks for next.
func (c *Client) Next() *Op {
	o := &c.op
	o.Command = c.cfg.Mix.pick(c.rnd.Int64N(c.cfg.Mix.total))
	command := &c.cfg.Mix.Commands[o.Command]
	o.Write = 0
	if command.Writes {
		c.writes++
		o.Write = c.writes
	}
	c.buf, c.ends, o.Keys = c.buf[:0], c.ends[:0], o.Keys[:0]
	c.add(append(c.buf, command.Name...))
	for _, a := range command.args {
		switch a.kind {
		case literal:
			c.add(append(c.buf, a.text...))
		case aKey:
			key, hot := c.cfg.Hotspot.next(c.rnd)
			if !hot {
				key = c.chooser.next(c.rnd, command.Writes)
			}
			o.Keys = append(o.Keys, key)
			c.add(c.cfg.AppendKey(c.buf, key))
		case aValue:
			c.add(c.value(o))
		}
	}
	if command.sets && c.cfg.TTL.Most > 0 {
		c.add(append(c.buf, "PX"...))
		c.add(strconv.AppendInt(c.buf, c.cfg.TTL.draw(c.rnd), 10))
	}
	o.Args = o.Args[:0]
	begin := 0
	for _, end := range c.ends {
		o.Args = append(o.Args, c.buf[begin:end:end])
		begin = end
	}
	if c.cfg.Rate.Open() {
		o.At = c.cfg.Rate.At(c.done*int64(c.cfg.Clients) + int64(c.number))
	}
	c.done++
	return o
}

// add ends an argument where b does.
func (c *Client) add(b []byte) {
	c.buf = b
	c.ends = append(c.ends, len(b))
}

func (c *Client) value(o *Op) []byte {
	n := c.cfg.Sizes.draw(c.rnd)
	if !c.cfg.Stamped {
		return fill(c.buf, c.rnd.Uint32(), n)
	}
	s := Stamp{Client: uint32(c.number), Write: o.Write}
	if len(o.Keys) > 0 {
		s.Key = uint64(o.Keys[len(o.Keys)-1])
	}
	return s.append(c.buf, n)
}
