package table

import (
	"errors"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/replica/table/zones"
)

// Values are the named values that the nodes agree on; nil if there are none. The pointer changes with them
// alone.
func (s *State) Values() *agreed.Values { return s.values }

// SetValues changes some of the agreed values, each from the version that its proposer knows.
type SetValues struct {
	Changes []agreed.Change
	Starts  []NodeStart // as in [SetDatabases]
}

func (*SetValues) kind() kind { return kindSetValues }

func (s *SetValues) code(c *codec) {
	list(c, &s.Changes, 4, func(v *agreed.Change) {
		c.bytes(&v.Name)
		c.bytes(&v.Body)
		c.flag(&v.Remove)
		c.number(&v.Was)
	})
	starts(c, &s.Starts)
}

func (s *SetValues) apply(d *draft) error {
	if err := d.knownStarts(s.Starts); err != nil {
		return err
	}
	values, err := d.values.With(s.Changes, d.index)
	switch {
	case errors.Is(err, agreed.ErrChanged):
		return refuse(ErrStale, "%v", err)
	case err != nil:
		return refuse(ErrTooMany, "%v", err)
	}
	d.values = values
	if zones.Changed(s.Changes) {
		d.replan()
	}
	return nil
}

// codeValues codes the values of a state.
func codeValues(c *codec, values **agreed.Values) {
	all := (*values).All()
	list(c, &all, 3, func(v *agreed.Value) {
		c.bytes(&v.Name)
		c.bytes(&v.Body)
		c.number(&v.Version)
	})
	if !c.reading {
		return
	}
	var err error
	if *values, err = agreed.New(all); err != nil {
		c.fail("agreed values that cannot be")
	}
}

// bytes codes a text of any length, which does not come again.
func (c *codec) bytes(v *string) {
	n := uint64(len(*v))
	c.number(&n)
	if !c.reading {
		c.buf = append(c.buf, *v...)
		return
	}
	if n > uint64(len(c.buf)) {
		c.fail("cut off")
		n = 0
	}
	*v = string(c.buf[:n])
	c.buf = c.buf[n:]
}
