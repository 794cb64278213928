package hashes

import (
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

// A fieldValue is what a field was found to have.
type fieldValue struct {
	value  []byte
	expiry int64
	found  bool
}

// valuesOf looks at fields of a hash that is going to be changed. It has replied, and returns
// false, if they cannot be read, or the reply would be too large.
func valuesOf(x *command.Call, t *collection.Table, fields [][]byte) ([]fieldValue, bool) {
	values := make([]fieldValue, len(fields))
	size := int64(0)
	for i, field := range fields {
		v := &values[i]
		var err error
		if v.value, v.expiry, v.found, err = t.GetExpiry(field); err != nil {
			x.Fail(err)
			return nil, false
		}
		size += int64(len(v.value)) + command.ElementReply
		if !x.FitsReply(size) {
			x.ReplyTooLarge()
			return nil, false
		}
	}
	return values, true
}

func replyValues(x *command.Call, values []fieldValue) {
	x.Array(len(values))
	for i := range values {
		if values[i].found {
			x.Bulk(values[i].value)
		} else {
			x.Null()
		}
	}
}

// expireOptions are the options of HGETEX and HSETEX.
type expireOptions struct {
	at               int64 // 0: no expiry is given
	keep             bool  // KEEPTTL
	persist          bool
	onlyNew, onlyOld bool     // FNX, FXX
	fields           [][]byte // with values, for HSETEX
}

// parseExpireOptions parses what follows the key. It returns an error reply, or "".
func parseExpireOptions(x *command.Call, sets bool) (o expireOptions, msg string) {
	last := "PERSIST"
	if sets {
		last = "KEEPTTL"
	}
	timed := false
	for args := x.Args[2:]; len(args) > 0; args = args[1:] {
		arg := args[0]
		if wire.EqualFold(arg, "fields") {
			if o.fields != nil {
				return o, "ERR multiple FIELDS arguments"
			}
			var taken int
			if o.fields, taken, msg = countedFields(x, args, sets); msg != "" {
				return o, msg
			}
			args = args[taken:]
			continue
		}
		base, unit, isTime := timeOption(x, arg)
		switch {
		case sets && (wire.EqualFold(arg, "fnx") || wire.EqualFold(arg, "fxx")):
			if o.onlyNew || o.onlyOld {
				return o, "ERR Only one of FXX or FNX arguments can be specified"
			}
			o.onlyNew = wire.EqualFold(arg, "fnx")
			o.onlyOld = !o.onlyNew
		case isTime || wire.EqualFold(arg, last):
			if timed {
				return o, "ERR Only one of EX, PX, EXAT, PXAT or " + last + " arguments can be specified"
			}
			timed = true
			if !isTime {
				o.keep, o.persist = sets, !sets
				continue
			}
			if len(args) < 2 {
				return o, "ERR missing expire time"
			}
			if o.at, msg = expiryOf(x, args[1], base, unit); msg != "" {
				return o, msg
			}
			o.at = max(o.at, 1) // 0 would be no expiry
			args = args[1:]
		default:
			return o, "ERR unknown argument: " + string(command.Shown(arg, 128))
		}
	}
	if o.fields == nil {
		return o, "ERR missing FIELDS argument"
	}
	return o, ""
}

// timeOption returns the base and the unit of an option that gives an expiry.
func timeOption(x *command.Call, arg []byte) (base int64, unit time.Duration, ok bool) {
	switch {
	case wire.EqualFold(arg, "ex"):
		return x.Unit.Now(), time.Second, true
	case wire.EqualFold(arg, "px"):
		return x.Unit.Now(), time.Millisecond, true
	case wire.EqualFold(arg, "exat"):
		return 0, time.Second, true
	case wire.EqualFold(arg, "pxat"):
		return 0, time.Millisecond, true
	}
	return 0, 0, false
}

// countedFields returns the fields behind FIELDS, with their values if they have some, and how many
// arguments follow FIELDS for them.
func countedFields(x *command.Call, args [][]byte, pairs bool) (fields [][]byte, taken int, msg string) {
	arity := "ERR wrong number of arguments for '" + x.Row.Full + "' command"
	if len(args) < 3 {
		return nil, 0, arity
	}
	n, ok := wire.ParseInt(args[1])
	if !ok || n < 1 || n > 1<<31-1 {
		return nil, 0, "ERR invalid number of fields"
	}
	if pairs {
		n *= 2
	}
	if n > int64(len(args)-2) {
		return nil, 0, arity
	}
	return args[2 : 2+n], int(n) + 1, ""
}

func cmdHgetex(x *command.Call) {
	t, ok := hash(x)
	if !ok {
		return
	}
	o, msg := parseExpireOptions(x, false)
	if msg != "" {
		x.Error(msg)
		return
	}
	values, ok := valuesOf(x, t, o.fields)
	if !ok {
		return
	}
	c := changes{x: x, t: t}
	for i, field := range o.fields {
		v := &values[i]
		if !v.found || o.at == 0 && (!o.persist || v.expiry == 0) {
			continue
		}
		if o.persist {
			c.persisted++
		}
		if err := c.setExpiry(field, v.value, o.at); err != nil {
			c.fail(err)
			return
		}
	}
	c.note()
	replyValues(x, values)
}

func cmdHsetex(x *command.Call) {
	o, msg := parseExpireOptions(x, true)
	if msg != "" {
		x.Error(msg)
		return
	}
	t, ok := hash(x)
	if !ok {
		return
	}
	for i := 0; i < len(o.fields); i += 2 {
		if !x.FieldFits(o.fields[i]) {
			return
		}
		if !o.onlyNew && !o.onlyOld {
			continue
		}
		_, _, found, err := t.GetExpiry(o.fields[i])
		if err != nil {
			x.Fail(err)
			return
		}
		if found == o.onlyNew {
			x.Int(0)
			return
		}
	}
	c := changes{x: x, t: t}
	for i := 0; i < len(o.fields); i += 2 {
		if err := c.setField(o.fields[i], o.fields[i+1], &o); err != nil {
			c.fail(err)
			return
		}
	}
	c.note()
	x.Int(1)
}

// setField does what HSETEX does to one field.
func (c *changes) setField(field, value []byte, o *expireOptions) error {
	c.set++
	if o.at != 0 && o.at <= c.x.Unit.Now() {
		_, err := c.t.Delete(field)
		c.deleted++ // a new field, too: as in Redis, it is set and deleted at once
		return err
	}
	at := o.at
	if o.keep {
		_, old, _, err := c.t.GetExpiry(field)
		if err != nil {
			return err
		}
		at = old
	}
	_, err := c.t.SetExpiring(field, value, at)
	if err == nil {
		markLarge(c.x, c.t, field, value)
	}
	if o.at != 0 {
		c.expiring++
	}
	return err
}
