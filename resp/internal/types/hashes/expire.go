package hashes

import (
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

func cmdHexpire(x *command.Call)    { expire(x, x.Unit.Now(), time.Second) }
func cmdHpexpire(x *command.Call)   { expire(x, x.Unit.Now(), time.Millisecond) }
func cmdHexpireat(x *command.Call)  { expire(x, 0, time.Second) }
func cmdHpexpireat(x *command.Call) { expire(x, 0, time.Millisecond) }

func cmdHttl(x *command.Call)         { timeLeft(x, x.Unit.Now(), time.Second) }
func cmdHpttl(x *command.Call)        { timeLeft(x, x.Unit.Now(), time.Millisecond) }
func cmdHexpiretime(x *command.Call)  { timeLeft(x, 0, time.Second) }
func cmdHpexpiretime(x *command.Call) { timeLeft(x, 0, time.Millisecond) }

// What the commands reply for a field.
const (
	replyNoField = -2
	replyNoTime  = -1
	replyNotMet  = 0
	replyDone    = 1
	replyDeleted = 2 // the time was in the past
)

const (
	msgNoFields    = "ERR Mandatory argument FIELDS is missing or not at the right position"
	msgFieldCount  = "ERR The `numfields` parameter must match the number of arguments"
	msgNegative    = "ERR invalid expire time, must be >= 0"
	msgFewFields   = "ERR Number of fields must be a positive integer"
	msgFewToExpire = "ERR Parameter `numFields` should be greater than 0"
)

// latest is the last time, in ms since 1970, at which a field can expire: as in Redis.
const latest = 1<<46 - 1

// expiryOf returns the time, in ms since 1970, that an argument names in units of time after a
// base in ms; or an error reply.
func expiryOf(x *command.Call, arg []byte, base int64, unit time.Duration) (at int64, msg string) {
	at, ok := wire.ParseInt(arg)
	ms := unit.Milliseconds()
	switch {
	case !ok:
		return 0, command.MsgNotInteger
	case at < 0:
		return 0, msgNegative
	case at > latest/ms || at*ms > latest-base:
		return 0, "ERR invalid expire time in '" + x.Row.Full + "' command"
	}
	return at*ms + base, ""
}

// fieldsAt returns the fields that args name: FIELDS, how many, and each of them; or an error
// reply, few if they are none.
func fieldsAt(args [][]byte, few string) (fields [][]byte, msg string) {
	if len(args) < 2 || !wire.EqualFold(args[0], "fields") {
		return nil, msgNoFields
	}
	n, ok := wire.ParseInt(args[1])
	switch {
	case !ok || n < 1:
		return nil, few
	case n != int64(len(args)-2):
		return nil, msgFieldCount
	}
	return args[2:], ""
}

// A condition is one of the options of HEXPIRE.
type condition byte

const (
	always condition = iota
	onlyNew
	onlyOld
	onlyLater
	onlySooner
)

func conditionOf(arg []byte) condition {
	switch {
	case wire.EqualFold(arg, "nx"):
		return onlyNew
	case wire.EqualFold(arg, "xx"):
		return onlyOld
	case wire.EqualFold(arg, "gt"):
		return onlyLater
	case wire.EqualFold(arg, "lt"):
		return onlySooner
	}
	return always
}

// met reports whether the expiry of a field may become another; 0: it has none, which is later
// than any other.
func (c condition) met(old, at int64) bool {
	switch c {
	case onlyNew:
		return old == 0
	case onlyOld:
		return old != 0
	case onlyLater:
		return old != 0 && at > old
	case onlySooner:
		return old == 0 || at < old
	}
	return true
}

// expire lets fields of args[1] expire args[2] units of time after a time in ms.
func expire(x *command.Call, base int64, unit time.Duration) {
	t, ok := hash(x)
	if !ok {
		return
	}
	at, msg := expiryOf(x, x.Args[2], base, unit)
	if msg != "" {
		x.Error(msg)
		return
	}
	rest := x.Args[3:]
	cond := conditionOf(rest[0])
	if cond != always {
		rest = rest[1:]
	}
	fields, msg := fieldsAt(rest, msgFewToExpire)
	if msg != "" {
		x.Error(msg)
		return
	}
	c := changes{x: x, t: t}
	replies := make([]int64, 0, len(fields))
	for _, field := range fields {
		value, old, found, err := t.GetExpiry(field)
		reply := int64(replyDone)
		switch {
		case err != nil:
		case !found:
			reply = replyNoField
		case !cond.met(old, at):
			reply = replyNotMet
		case at <= x.Unit.Now(): // also 1970-01-01, which as an expiry would be none
			reply = replyDeleted
			err = c.delete(field)
		default:
			err = c.setExpiry(field, value, at)
		}
		if err != nil {
			c.fail(err)
			return
		}
		replies = append(replies, reply)
	}
	c.note()
	replyInts(x, replies)
}

func replyInts(x *command.Call, replies []int64) {
	x.Array(len(replies))
	for _, reply := range replies {
		x.Int(reply)
	}
}

// changes are what a command does to the fields of a hash, and which events tell of it.
type changes struct {
	x                                 *command.Call
	t                                 *collection.Table
	set, expiring, persisted, deleted int
}

// setExpiry sets a field, which is deleted where the time of its expiry has come; 0: it has none.
func (c *changes) setExpiry(field, value []byte, at int64) error {
	if at != 0 && at <= c.x.Unit.Now() {
		return c.delete(field)
	}
	_, err := c.t.SetExpiring(field, value, at)
	if err == nil && at != 0 {
		c.expiring++
	}
	return err
}

func (c *changes) delete(field []byte) error {
	gone, err := c.t.Delete(field)
	if gone {
		c.deleted++
	}
	return err
}

// fail ends the command with an error.
func (c *changes) fail(err error) {
	c.x.FailPart(c.set+c.expiring+c.persisted+c.deleted > 0, err)
}

// note notes the events.
func (c *changes) note() {
	for _, e := range []struct {
		n    int
		name string
	}{{c.set, "hset"}, {c.expiring, "hexpire"}, {c.persisted, "hpersist"}} {
		if e.n > 0 {
			c.x.Unit.Note(store.EventHash, e.name, c.x.Args[1])
		}
	}
	if c.deleted > 0 {
		c.x.NoteRemoved(c.x.Args[1], c.t, store.EventHash, "hdel")
	}
}

func cmdHpersist(x *command.Call) {
	t, ok := hash(x)
	if !ok {
		return
	}
	fields, msg := fieldsAt(x.Args[2:], msgFewFields)
	if msg != "" {
		x.Error(msg)
		return
	}
	c := changes{x: x, t: t}
	replies := make([]int64, 0, len(fields))
	for _, field := range fields {
		value, old, found, err := t.GetExpiry(field)
		reply := int64(replyDone)
		switch {
		case err != nil:
		case !found:
			reply = replyNoField
		case old == 0:
			reply = replyNoTime
		default:
			c.persisted++
			err = c.setExpiry(field, value, 0)
		}
		if err != nil {
			c.fail(err)
			return
		}
		replies = append(replies, reply)
	}
	c.note()
	replyInts(x, replies)
}

// timeLeft replies with the time from base, in ms, to the expiry of fields of args[1], in units,
// rounded up.
func timeLeft(x *command.Call, base int64, unit time.Duration) {
	t, ok := wholeHash(x)
	if !ok {
		return
	}
	fields, msg := fieldsAt(x.Args[2:], msgFewFields)
	if msg != "" {
		x.Error(msg)
		return
	}
	ms := unit.Milliseconds()
	x.Elements(func() error {
		x.Array(len(fields))
		for _, field := range fields {
			_, at, found, err := t.GetExpiry(field)
			switch {
			case err != nil:
				return err
			case !found:
				x.Int(replyNoField)
			case at == 0:
				x.Int(replyNoTime)
			default:
				x.Int((at - base + ms - 1) / ms)
			}
		}
		return nil
	})
}

func cmdHgetdel(x *command.Call) {
	t, ok := hash(x)
	if !ok {
		return
	}
	fields, msg := fieldsAt(x.Args[2:], msgFewFields)
	if msg != "" {
		x.Error(msg)
		return
	}
	values, ok := valuesOf(x, t, fields)
	if !ok {
		return
	}
	c := changes{x: x, t: t}
	for i, field := range fields {
		if !values[i].found {
			continue
		}
		before := c.deleted
		if err := c.delete(field); err != nil {
			c.fail(err)
			return
		}
		values[i].found = c.deleted > before // it may be named twice
	}
	c.note()
	replyValues(x, values)
}
