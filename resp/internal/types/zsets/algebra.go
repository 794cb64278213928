package zsets

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

func cmdZdiff(x *command.Call) { zsetReply(x, zsetDiff) }

func cmdZinter(x *command.Call) { zsetReply(x, zsetInter) }

func cmdZunion(x *command.Call) { zsetReply(x, zsetUnion) }

func cmdZdiffstore(x *command.Call) { zsetStore(x, zsetDiff) }

func cmdZinterstore(x *command.Call) { zsetStore(x, zsetInter) }

func cmdZunionstore(x *command.Call) { zsetStore(x, zsetUnion) }

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
				return command.MsgSyntax
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
			return command.MsgSyntax
		}
	}
	return ""
}

// zsetReply replies with what comes of the sorted sets in args[2:].
func zsetReply(x *command.Call, of zsetOperation) {
	a, ok := openOperands(x, x.Args[1:])
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
		size += int64(len(member)) + 3*command.ElementReply
		fits, room = x.FitsReply(size), x.Take(int64(len(member))+command.BuiltEntry)
		if fits && room {
			all = append(all, scored{slices.Clone(member), score})
		}
		return fits && room
	})
	switch {
	case err != nil:
		x.Fail(err)
		return
	case !fits:
		x.RefuseByLimit(x.OverOutputBuffer())
		return
	case !room:
		x.RefuseByLimit(command.MsgNoMemory)
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
func zsetStore(x *command.Call, of zsetOperation) {
	if a, ok := openOperands(x, x.Args[2:]); ok {
		StoreScored(x, x.Args[1], x.Row.Name, of(a))
	}
}

// StoreScored makes members the value of a key, and replies with how many they are; event is
// what is told of it.
func StoreScored(x *command.Call, key []byte, event string, members scoredMembers) {
	old, err := x.Unit.Get(key)
	if err != nil {
		x.Fail(err)
		return
	}
	var dst collection.ZSet
	dst.Limit(int(x.Limits.Packed.Load()))
	dst.Over(x.Unit, key, old)
	x.Unit.SetReplacing(old.Exists())
	defer x.Unit.SetReplacing(false)
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
		if isLarge(x, longest, dst.Len()) {
			dst.MarkLarge()
		}
		err = dst.Flush()
	}
	if err != nil {
		x.Fail(err)
		return
	}
	switch {
	case dst.Len() > 0:
		x.Unit.Note(store.EventSortedSet, event, key)
	case old.Exists():
		x.Unit.Note(store.EventGeneric, "del", key)
	}
	x.Int(dst.Len())
}

func cmdZintercard(x *command.Call) {
	a, ok := openOperands(x, x.Args[1:])
	if !ok {
		return
	}
	count := int64(0)
	err := zsetInter(a)(func([]byte, float64) bool {
		count++
		return count != a.limit
	})
	if err != nil {
		x.Fail(err)
		return
	}
	x.Int(count)
}
