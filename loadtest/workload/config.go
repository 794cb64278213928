package workload

import (
	"errors"
	"fmt"
	"strconv"
)

// Bounds of a workload.
const (
	MaxKeys    = 1 << 40
	MaxClients = 1 << 16
)

// A Config says what all clients together do. The zero value of a field that a usual
// workload has no use for is its default.
type Config struct {
	// Seed is what all choices follow from.
	Seed uint64
	// Clients is how many there are, 1..MaxClients.
	Clients int
	// Keys is how many keys there are, 1..MaxKeys, if there are no Names.
	Keys int64
	// Prefix begins the name of each key, before its number.
	Prefix string
	// Names are the names of the keys, if they are not numbers.
	Names [][]byte
	// Choice says how keys are chosen.
	Choice Choice
	// Hotspot, if not nil, has some of the requests go to other keys than Choice says.
	Hotspot *Hotspot
	// Mix is what is asked for.
	Mix Mix
	// Sizes are the lengths of values.
	Sizes Sizes
	// TTL is for how long what SET writes lives.
	TTL TTL
	// Rate is an open loop, or not.
	Rate Rate
	// Stamped has values say who wrote them, and when: see [Stamp].
	Stamped bool
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("workload: "+format, args...)) }
	if c.Clients < 1 || c.Clients > MaxClients {
		fault("%d clients are not within 1..%d", c.Clients, MaxClients)
	}
	if n := c.keys(); n < 1 || n > MaxKeys {
		fault("%d keys are not within 1..%d", n, int64(MaxKeys))
	}
	if len(c.Mix.Commands) == 0 {
		fault("the mix is empty")
	}
	if c.Stamped && c.Sizes.least < stampLen {
		fault("values that are verified have %d bytes or more, and some would have %d", stampLen, c.Sizes.least)
	}
	return errors.Join(faults...)
}

func (c *Config) keys() int64 {
	if len(c.Names) > 0 {
		return int64(len(c.Names))
	}
	return c.Keys
}

// AppendKey adds the name of a key to b.
func (c *Config) AppendKey(b []byte, key int64) []byte {
	if len(c.Names) > 0 {
		return append(b, c.Names[key]...)
	}
	return AppendKey(b, c.Prefix, key)
}

// AppendKey adds the name of a key with a number to b. Names with one prefix are of one length.
func AppendKey(b []byte, prefix string, key int64) []byte {
	var digits [20]byte
	number := strconv.AppendInt(digits[:0], key, 10)
	b = append(b, prefix...)
	for range 12 - len(number) {
		b = append(b, '0')
	}
	return append(b, number...)
}
