package resp

import (
	"errors"
	"math"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
	"github.com/ringside-kv/ringside/store/rdb"
)

// What Redis keeps in a compact form: sorted sets of so many members, none of them longer
// than compactMember.
const (
	compactScored = 128
	compactMember = 64
)

// openZSet opens the sorted set at a key to change it, or to look at one member. It has
// replied, and returns false, if that cannot be.
func (x *Call) openZSet(z *collection.ZSet, key []byte) bool {
	z.Limit(int(x.limits.packed.Load()))
	err := z.Open(x.unit, key)
	return x.opened(key, z.Value(), err)
}

// openWholeZSet is openZSet for commands that look at more than one member.
func (x *Call) openWholeZSet(z *collection.ZSet, key []byte) bool {
	z.Limit(int(x.limits.packed.Load()))
	err := z.OpenWhole(x.unit, key)
	return x.opened(key, z.Value(), err)
}

// openSource is openWholeZSet for commands that write elsewhere what they find.
func (x *Call) openSource(z *collection.ZSet, key []byte) bool {
	ok := x.openWholeZSet(z, key)
	if x.cmd.flags&flagWrite != 0 {
		x.looked(key, z.Value())
	}
	return ok
}

// zsetAt opens the sorted set at args[1].
func (x *Call) zsetAt() (*collection.ZSet, bool) { return &x.zset, x.openZSet(&x.zset, x.args[1]) }

// wholeZSet is zsetAt for commands that look at more than one member.
func (x *Call) wholeZSet() (*collection.ZSet, bool) {
	return &x.zset, x.openWholeZSet(&x.zset, x.args[1])
}

// A scoreCondition says which scores ZADD sets.
type scoreCondition struct{ onlyNew, onlyOld, onlyGreater, onlyLess, incr bool }

var errNaN = errors.New("resulting score is not a number (NaN)")

// decide returns the score that a member gets, and whether it gets one.
func (c *scoreCondition) decide(old, score float64, had bool) (float64, bool, error) {
	switch {
	case !had:
		return score, !c.onlyOld, nil
	case c.onlyNew:
		return old, false, nil
	}
	if c.incr {
		if score += old; math.IsNaN(score) {
			return 0, false, errNaN
		}
	}
	return score, !(c.onlyLess && score >= old || c.onlyGreater && score <= old), nil
}

func cmdZadd(x *Call) { x.addScores(scoreCondition{}) }

func cmdZincrby(x *Call) { x.addScores(scoreCondition{incr: true}) }

// addScores is ZADD.
func (x *Call) addScores(c scoreCondition) {
	rest, changed := x.args[2:], false
options:
	for ; len(rest) > 0; rest = rest[1:] {
		switch {
		case wire.EqualFold(rest[0], "nx"):
			c.onlyNew = true
		case wire.EqualFold(rest[0], "xx"):
			c.onlyOld = true
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
		x.Error(msgSyntax)
		return
	case c.onlyNew && c.onlyOld:
		x.Error("ERR XX and NX options at the same time are not compatible")
		return
	case c.onlyNew && (c.onlyGreater || c.onlyLess), c.onlyGreater && c.onlyLess:
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
			x.Error(msgNotFloat)
			return
		}
		if !x.fieldFits(rest[2*i+1]) {
			return
		}
	}
	x.setScores(&c, scores, func(i int) []byte { return rest[2*i+1] }, changed)
}

// setScores gives members of the sorted set at args[1] scores and replies with how many are
// new, or changed as well, or with the score of the only one.
func (x *Call) setScores(c *scoreCondition, scores []float64, member func(i int) []byte, countChanged bool) {
	z, ok := x.zsetAt()
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
			x.failPart(i > 0, err)
			return
		}
		if isNew && (longest > compactMember || z.Len() > compactScored) {
			z.MarkLarge()
		}
	}
	if err := z.Flush(); err != nil {
		x.fail(err)
		return
	}
	if changed {
		x.unit.Note(store.EventSortedSet, map[bool]string{false: "zadd", true: "zincr"}[c.incr], x.args[1])
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

func cmdZcard(x *Call) {
	if z, ok := x.zsetAt(); ok {
		x.Int(z.Len())
	}
}

func cmdZscore(x *Call) {
	z, ok := x.zsetAt()
	if !ok {
		return
	}
	switch score, found, err := z.Score(x.args[2]); {
	case err != nil:
		x.fail(err)
	case !found:
		x.Null()
	default:
		x.Double(score)
	}
}

func cmdZmscore(x *Call) {
	z, ok := x.wholeZSet()
	if !ok {
		return
	}
	x.elements(func() error {
		x.Array(len(x.args) - 2)
		for _, member := range x.args[2:] {
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

func cmdZrem(x *Call) {
	z, ok := x.zsetAt()
	if !ok {
		return
	}
	n := int64(0)
	for _, member := range x.args[2:] {
		if z.Len() == 0 {
			break
		}
		gone, err := z.Delete(member)
		if err != nil {
			x.failPart(n > 0, err)
			return
		}
		if gone {
			n++
		}
	}
	if err := z.Flush(); err != nil {
		x.fail(err)
		return
	}
	if n > 0 {
		x.removedScored(x.args[1], z, "zrem")
	}
	x.Int(n)
}

// removedScored notes that members of a sorted set were removed, and the key if they were its
// last.
func (x *Call) removedScored(key []byte, z *collection.ZSet, name string) {
	x.unit.Note(store.EventSortedSet, name, key)
	if z.Len() == 0 {
		x.unit.Note(store.EventGeneric, "del", key)
	}
}

func cmdZrank(x *Call) { x.rankOf(false) }

func cmdZrevrank(x *Call) { x.rankOf(true) }

// rankOf replies with how many members are before one, or behind it.
func (x *Call) rankOf(back bool) {
	z, ok := x.wholeZSet()
	if !ok {
		return
	}
	score, found, err := z.Score(x.args[2])
	rank := int64(0)
	if err == nil && found {
		rank, err = z.Rank(collection.RankKey(nil, score, x.args[2]))
	}
	switch {
	case err != nil:
		x.fail(err)
	case !found:
		x.Null()
	case back:
		x.Int(z.Len() - 1 - rank)
	default:
		x.Int(rank)
	}
}

func cmdZscan(x *Call) { x.tableScan(store.ZSet) }

func cmdZrandmember(x *Call) { x.drawElements(store.ZSet, "withscores") }

// restoreZSet makes the sorted set that a payload holds the value of a key, which was old.
func (x *Call) restoreZSet(key []byte, old store.Value, value *rdb.Value, expiry int64) error {
	z, large := &x.zset, false
	z.Limit(int(x.limits.packed.Load()))
	z.Over(x.unit, key, old)
	longest := int(x.limits.maxKey.Load())
	err := z.Restore(value, func(member []byte) error {
		if len(member) > longest {
			return replyError(msgFieldTooLong)
		}
		large = large || len(member) > compactMember
		return nil
	})
	if err != nil {
		return err
	}
	if large || z.Len() > compactScored {
		z.MarkLarge()
	}
	if err := z.Flush(); err != nil {
		return err
	}
	x.unit.SetExpiry(key, *z.Value(), expiry)
	return nil
}
