package resp

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

func cmdZdiff(x *Call) { x.zsetReply(zsetDiff) }

func cmdZinter(x *Call) { x.zsetReply(zsetInter) }

func cmdZunion(x *Call) { x.zsetReply(zsetUnion) }

func cmdZdiffstore(x *Call) { x.zsetStore(zsetDiff) }

func cmdZinterstore(x *Call) { x.zsetStore(zsetInter) }

func cmdZunionstore(x *Call) { x.zsetStore(zsetUnion) }

// options reads those of a command; it returns an error reply, or "".
func (a *zsetAlgebra) options(rest [][]byte, name string) string {
	stores, counts, diff := strings.HasSuffix(name, "store"), name == "zintercard", strings.HasPrefix(name, "zdiff")
	for ; len(rest) > 0; rest = rest[1:] {
		switch {
		case !diff && !counts && len(rest) > len(a.inputs) && wire.EqualFold(rest[0], "weights"):
			for i := range a.inputs {
				var ok bool
				if a.inputs[i].weight, ok = wire.ParseFloat(rest[1+i]); !ok {
					return "ERR weight value is not a float"
				}
			}
			rest = rest[len(a.inputs):]
		case !diff && !counts && len(rest) > 1 && wire.EqualFold(rest[0], "aggregate"):
			rest = rest[1:]
			switch {
			case wire.EqualFold(rest[0], "sum"):
				a.aggregate = addScore
			case wire.EqualFold(rest[0], "min"):
				a.aggregate = lesserScore
			case wire.EqualFold(rest[0], "max"):
				a.aggregate = greaterScore
			default:
				return msgSyntax
			}
		case !stores && !counts && wire.EqualFold(rest[0], "withscores"):
			a.scores = true
		case counts && len(rest) > 1 && wire.EqualFold(rest[0], "limit"):
			rest = rest[1:]
			var ok bool
			if a.limit, ok = wire.ParseInt(rest[0]); !ok || a.limit < 0 {
				return "ERR LIMIT can't be negative"
			}
		default:
			return msgSyntax
		}
	}
	return ""
}

// zsetReply replies with what comes of the sorted sets in args[2:].
func (x *Call) zsetReply(of zsetOperation) {
	a, ok := x.zsetAlgebra(x.args[1:])
	if !ok {
		return
	}
	type scored struct {
		member []byte
		score  float64
	}
	var all []scored
	size, fits, room := int64(0), true, true
	err := of(a)(func(member []byte, score float64) bool {
		size += int64(len(member)) + 3*elementReply
		fits, room = x.keepable(size), x.takes(int64(len(member))+builtEntry)
		if fits && room {
			all = append(all, scored{slices.Clone(member), score})
		}
		return fits && room
	})
	switch {
	case err != nil:
		x.fail(err)
		return
	case !fits:
		x.limit(x.overOutputBuffer())
		return
	case !room:
		x.limit(msgNoMemory)
		return
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), slices.Compare(a.member, b.member))
	})
	scoredArray(x.Writer, len(all), a.scores)
	for _, e := range all {
		replyScored(x.Writer, e.member, e.score, a.scores)
	}
}

// zsetStore makes what comes of the sorted sets in args[3:] the value of args[1].
func (x *Call) zsetStore(of zsetOperation) {
	if a, ok := x.zsetAlgebra(x.args[2:]); ok {
		x.storeScored(x.args[1], x.cmd.name, of(a))
	}
}

// storeScored makes members the value of a key, and replies with how many they are; event is
// what is told of it.
func (x *Call) storeScored(key []byte, event string, members scoredMembers) {
	old, err := x.unit.Get(key)
	if err != nil {
		x.fail(err)
		return
	}
	var dst collection.ZSet
	dst.Limit(int(x.limits.packed.Load()))
	dst.Over(x.unit, key, old)
	x.unit.Replaces(old.Exists())
	defer x.unit.Replaces(false)
	longest := 0
	err = dst.Replace(func(set func(member []byte, score float64) error) error {
		var failure error
		err := members(func(member []byte, score float64) bool {
			longest = max(longest, len(member))
			failure = set(member, score)
			return failure == nil
		})
		return cmp.Or(failure, err)
	})
	if err == nil {
		if longest > compactMember || dst.Len() > compactScored {
			dst.MarkLarge()
		}
		err = dst.Flush()
	}
	if err != nil {
		x.fail(err)
		return
	}
	switch {
	case dst.Len() > 0:
		x.unit.Note(store.EventSortedSet, event, key)
	case old.Exists():
		x.unit.Note(store.EventGeneric, "del", key)
	}
	x.Int(dst.Len())
}

func cmdZintercard(x *Call) {
	a, ok := x.zsetAlgebra(x.args[1:])
	if !ok {
		return
	}
	count := int64(0)
	err := zsetInter(a)(func([]byte, float64) bool {
		count++
		return count != a.limit
	})
	if err != nil {
		x.fail(err)
		return
	}
	x.Int(count)
}
