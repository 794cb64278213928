package zsets

import (
	"errors"
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
	"github.com/ringside-kv/ringside/store/rdb"
)

// isLarge reports whether Redis keeps a sorted set in no compact form: it has many members, or a long one.
func isLarge(x *command.Call, longest int, members int64) bool {
	e := &x.Limits.Encodings
	return int64(longest) > e.ZSetValue.Load() || members > e.ZSetEntries.Load()
}

// openZSet opens the sorted set at a key to change it, or to look at one member. It has
// replied, and returns false, if that cannot be.
func openZSet(x *command.Call, z *collection.ZSet, key []byte) bool {
	z.Limit(int(x.Limits.Packed.Load()))
	err := z.Open(x.Unit, key)
	return x.Opened(key, z.Value(), err)
}

// OpenWholeZSet is openZSet for commands that look at more than one member.
func OpenWholeZSet(x *command.Call, z *collection.ZSet, key []byte) bool {
	z.Limit(int(x.Limits.Packed.Load()))
	err := z.OpenWhole(x.Unit, key)
	return x.Opened(key, z.Value(), err)
}

// OpenSource is OpenWholeZSet for commands that write elsewhere what they find.
func OpenSource(x *command.Call, z *collection.ZSet, key []byte) bool {
	ok := OpenWholeZSet(x, z, key)
	if x.Row.Flags&command.FlagWrite != 0 {
		x.CountLookup(key, z.Value())
	}
	return ok
}

// zsetAt opens the sorted set at args[1].
func zsetAt(x *command.Call) (*collection.ZSet, bool) {
	return &x.ZSet, openZSet(x, &x.ZSet, x.Args[1])
}

// WholeZSet is zsetAt for commands that look at more than one member.
func WholeZSet(x *command.Call) (*collection.ZSet, bool) {
	return &x.ZSet, OpenWholeZSet(x, &x.ZSet, x.Args[1])
}

// A ScoreCondition says which scores ZADD sets.
type ScoreCondition struct{ OnlyNew, OnlyOld, onlyGreater, onlyLess, incr bool }

var errNaN = errors.New("resulting score is not a number (NaN)")

// decide returns the score that a member gets, and whether it gets one.
func (c *ScoreCondition) decide(old, score float64, had bool) (float64, bool, error) {
	switch {
	case !had:
		return score, !c.OnlyOld, nil
	case c.OnlyNew:
		return old, false, nil
	}
	if c.incr {
		if score += old; math.IsNaN(score) {
			return 0, false, errNaN
		}
	}
	return score, !(c.onlyLess && score >= old || c.onlyGreater && score <= old), nil
}

func cmdZadd(x *command.Call) { addScores(x, ScoreCondition{}) }

func cmdZincrby(x *command.Call) { addScores(x, ScoreCondition{incr: true}) }

// addScores is ZADD.
func addScores(x *command.Call, c ScoreCondition) {
	rest, changed := x.Args[2:], false
options:
	for ; len(rest) > 0; rest = rest[1:] {
		switch {
		case wire.EqualFold(rest[0], "nx"):
			c.OnlyNew = true
		case wire.EqualFold(rest[0], "xx"):
			c.OnlyOld = true
		case wire.EqualFold(rest[0], "ch"):
			changed = true
		case wire.EqualFold(rest[0], "incr"):
			c.incr = true
		case wire.EqualFold(rest[0], "gt"):
			c.onlyGreater = true
		case wire.EqualFold(rest[0], "lt"):
			c.onlyLess = true
		default:
			break options
		}
	}
	switch {
	case len(rest) == 0 || len(rest)%2 != 0:
		x.Error(command.MsgSyntax)
		return
	case c.OnlyNew && c.OnlyOld:
		x.Error("ERR XX and NX options at the same time are not compatible")
		return
	case c.OnlyNew && (c.onlyGreater || c.onlyLess), c.onlyGreater && c.onlyLess:
		x.Error("ERR GT, LT, and/or NX options at the same time are not compatible")
		return
	case c.incr && len(rest) > 2:
		x.Error("ERR INCR option supports a single increment-element pair")
		return
	}
	scores := make([]float64, len(rest)/2)
	for i := range scores {
		var ok bool
		if scores[i], ok = wire.ParseFloat(rest[2*i]); !ok {
			x.Error(command.MsgNotFloat)
			return
		}
		if !x.FieldFits(rest[2*i+1]) {
			return
		}
	}
	SetScores(x, &c, scores, func(i int) []byte { return rest[2*i+1] }, changed)
}

// SetScores gives members of the sorted set at args[1] scores and replies with how many are
// new, or changed as well, or with the score of the only one.
func SetScores(x *command.Call, c *ScoreCondition, scores []float64, member func(i int) []byte, countChanged bool) {
	z, ok := zsetAt(x)
	if !ok {
		return
	}
	n, result, set, changed := int64(0), 0.0, false, false
	for i, score := range scores {
		isNew, longest := false, len(member(i))
		var failure error
		err := z.Update(member(i), func(old float64, had bool) (float64, bool) {
			result, set, failure = c.decide(old, score, had)
			isNew = set && !had
			changed = changed || isNew || set && result != old
			if isNew || set && countChanged && result != old {
				n++
			}
			return result, set
		})
		if failure != nil {
			err = failure
		}
		if err != nil {
			x.FailPart(i > 0, err)
			return
		}
		if isNew && isLarge(x, longest, z.Len()) {
			z.MarkLarge()
		}
	}
	if err := z.Flush(); err != nil {
		x.Fail(err)
		return
	}
	if changed {
		x.Unit.Note(store.EventSortedSet, map[bool]string{false: "zadd", true: "zincr"}[c.incr], x.Args[1])
	}
	switch {
	case !c.incr:
		x.Int(n)
	case set:
		x.Double(result)
	default:
		x.Null()
	}
}

func cmdZcard(x *command.Call) {
	if z, ok := zsetAt(x); ok {
		x.Int(z.Len())
	}
}

func cmdZscore(x *command.Call) {
	z, ok := zsetAt(x)
	if !ok {
		return
	}
	switch score, found, err := z.Score(x.Args[2]); {
	case err != nil:
		x.Fail(err)
	case !found:
		x.Null()
	default:
		x.Double(score)
	}
}

func cmdZmscore(x *command.Call) {
	z, ok := WholeZSet(x)
	if !ok {
		return
	}
	x.Elements(func() error {
		x.Array(len(x.Args) - 2)
		for _, member := range x.Args[2:] {
			score, found, err := z.Score(member)
			switch {
			case err != nil:
				return err
			case found:
				x.Double(score)
			default:
				x.Null()
			}
		}
		return nil
	})
}

func cmdZrem(x *command.Call) {
	z, ok := zsetAt(x)
	if !ok {
		return
	}
	n := int64(0)
	for _, member := range x.Args[2:] {
		if z.Len() == 0 {
			break
		}
		gone, err := z.Delete(member)
		if err != nil {
			x.FailPart(n > 0, err)
			return
		}
		if gone {
			n++
		}
	}
	if err := z.Flush(); err != nil {
		x.Fail(err)
		return
	}
	if n > 0 {
		removedScored(x, x.Args[1], z, "zrem")
	}
	x.Int(n)
}

// removedScored notes that members of a sorted set were removed, and the key if they were its
// last.
func removedScored(x *command.Call, key []byte, z *collection.ZSet, name string) {
	x.Unit.Note(store.EventSortedSet, name, key)
	if z.Len() == 0 {
		x.Unit.Note(store.EventGeneric, "del", key)
	}
}

func cmdZrank(x *command.Call) { rankOf(x, false) }

func cmdZrevrank(x *command.Call) { rankOf(x, true) }

// rankOf replies with how many members are before one, or behind it: WITHSCORE, of Redis 7.2,
// with its score, too.
func rankOf(x *command.Call, back bool) {
	withScore := len(x.Args) == 4
	switch {
	case len(x.Args) > 4:
		x.Error("ERR wrong number of arguments for '" + x.Row.Full + "' command")
		return
	case withScore && !wire.EqualFold(x.Args[3], "withscore"):
		x.Error(command.MsgSyntax)
		return
	}
	z, ok := WholeZSet(x)
	if !ok {
		return
	}
	score, found, err := z.Score(x.Args[2])
	rank := int64(0)
	if err == nil && found {
		rank, err = z.Rank(collection.RankKey(nil, score, x.Args[2]))
	}
	if back {
		rank = z.Len() - 1 - rank
	}
	switch {
	case err != nil:
		x.Fail(err)
	case !found && withScore:
		x.NullArray()
	case !found:
		x.Null()
	case withScore:
		x.Array(2)
		x.Int(rank)
		x.Double(score)
	default:
		x.Int(rank)
	}
}

func cmdZscan(x *command.Call) { x.TableScan(store.ZSet) }

func cmdZrandmember(x *command.Call) { x.DrawElements(store.ZSet, "withscores") }

// RestoreZSet makes the sorted set that a payload holds the value of a key, which was old.
func RestoreZSet(x *command.Call, key []byte, old store.Value, value *rdb.Value, expiry int64) error {
	z, most := &x.ZSet, 0
	z.Limit(int(x.Limits.Packed.Load()))
	z.Over(x.Unit, key, old)
	longest := int(x.Limits.MaxKey.Load())
	err := z.Restore(value, func(member []byte) error {
		if len(member) > longest {
			return command.ReplyError(command.MsgFieldTooLong)
		}
		most = max(most, len(member))
		return nil
	})
	if err != nil {
		return err
	}
	if isLarge(x, most, z.Len()) {
		z.MarkLarge()
	}
	if err := z.Flush(); err != nil {
		return err
	}
	x.Unit.SetExpiry(key, *z.Value(), expiry)
	return nil
}
