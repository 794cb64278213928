package command

import (
	"math"
	"math/rand/v2"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// SampleSize is args[2], how many elements are to be drawn. It has replied, and returns
// false, if that is none.
func (x *Call) SampleSize() (int64, bool) {
	n, ok := wire.ParseInt(x.Args[2])
	switch {
	case !ok:
		x.Error(MsgNotInteger)
	case n == math.MinInt64:
		x.Error(msgCountRange)
		ok = false
	}
	return n, ok
}

// DrawElements is HRANDFIELD and ZRANDMEMBER; withValues is the word by which values, or
// scores, come along.
func (x *Call) DrawElements(typ store.Type, withValues string) {
	if len(x.Args) == 2 {
		x.RandomElement(typ)
		return
	}
	n, ok := x.SampleSize()
	values := len(x.Args) == 4
	switch {
	case !ok:
	case len(x.Args) > 4 || values && !wire.EqualFold(x.Args[3], withValues):
		x.Error(MsgSyntax)
	case values && (n < -math.MaxInt64/2 || n > math.MaxInt64/2):
		x.Error("ERR value is out of range")
	default:
		x.RandomElements(typ, n, values)
	}
}

// RandomElement replies with one field of the table at args[1], or null.
func (x *Call) RandomElement(typ store.Type) {
	t := &x.Table
	if !x.OpenWholeTable(t, x.Args[1], typ) {
		return
	}
	field, _, ok, err := t.Random()
	switch {
	case err != nil:
		x.Fail(err)
	case !ok:
		x.Null()
	default:
		x.Bulk(field)
	}
}

// RandomElements replies with n different fields of the table at args[1], or with -n of
// which some may be the same.
func (x *Call) RandomElements(typ store.Type, n int64, values bool) {
	t := &x.Table
	if !x.OpenWholeTable(t, x.Args[1], typ) {
		return
	}
	size, err := t.LenLive()
	if err != nil {
		x.Fail(err)
		return
	}
	if size == 0 || n == 0 {
		x.Array(0)
		return
	}
	again := n < 0
	if n = min(n, size); again {
		n = -n
	}
	// About as much as their share, or if they come again and again, more than memory has.
	about := float64(t.Value().Size)/float64(size)*float64(n) + float64(n)*ElementReply
	if x.RunApart(int64(min(about, math.MaxInt64/2))) {
		return
	}
	x.Elements(func() error {
		if values && x.Proto == 2 {
			x.Array(int(2 * n))
		} else {
			x.Array(int(n))
		}
		var tooLarge error
		show := func(field, value []byte) bool {
			if tooLarge == nil && !x.FitsReply(int64(len(field)+len(value))+2*ElementReply) {
				tooLarge = LimitError(x.OverOutputBuffer())
			}
			if tooLarge != nil {
				return false
			}
			if values && x.Proto == 3 {
				x.Array(2)
			}
			x.Bulk(field)
			switch {
			case values && typ == store.ZSet:
				x.Double(collection.ScoreOf(value))
			case values:
				x.Bulk(value)
			}
			return true
		}
		if again {
			err = x.drawAgain(t, n, show)
		} else {
			err = t.Sample(n, func(field, value []byte) { show(field, value) })
		}
		if err == nil {
			err = tooLarge
		}
		return err
	})
}

// drawAgain shows n fields, each drawn from all, or fewer if show returns false. From a small table it draws
// in memory.
func (x *Call) drawAgain(t *collection.Table, n int64, show func(field, value []byte) bool) error {
	type pair struct{ field, value []byte }
	var all []pair
	if t.Value().Whole() {
		err := t.All(func(field, value []byte) bool {
			all = append(all, pair{field, value})
			return true
		})
		if err != nil {
			return err
		}
	}
	for ; n > 0; n-- {
		if len(all) > 0 {
			p := all[rand.IntN(len(all))]
			if !show(p.field, p.value) {
				return nil
			}
			continue
		}
		field, value, _, err := t.Random()
		if err != nil || !show(field, value) {
			return err
		}
	}
	return nil
}
