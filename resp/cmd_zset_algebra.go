package resp

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// Commands on several sorted sets, or sets, whose members all have the score 1.

// A scoredMembers calls yield for the members of a result, each once, until it returns false.
type scoredMembers func(yield func(member []byte, score float64) bool) error

// A scoredInput is one of the sorted sets, or sets.
type scoredInput struct {
	table  collection.Table
	isSet  bool
	weight float64
}

// of returns the score of a member with its weight.
func (in *scoredInput) of(value []byte) float64 {
	score := 1.0
	if !in.isSet {
		score = collection.ScoreOf(value)
	}
	return in.weight * score
}

// orZero makes 0 of what is no number, as a weight of 0 makes of an infinite score.
func orZero(score float64) float64 {
	if math.IsNaN(score) {
		return 0
	}
	return score
}

// A zsetAlgebra is what ZUNION and its like are asked for.
type zsetAlgebra struct {
	inputs    []scoredInput
	aggregate func(a, b float64) float64
	scores    bool
	limit     int64 // of what is only counted; 0: none
}

func addScore(a, b float64) float64 { return orZero(a + b) }

// The members of results.
type zsetOperation func(a *zsetAlgebra) scoredMembers

// zsetDiff is what the first has and no other.
func zsetDiff(a *zsetAlgebra) scoredMembers {
	return func(yield func([]byte, float64) bool) error {
		return a.each(0, func(member []byte, score float64) (bool, error) {
			found, err := a.inAny(a.inputs[1:], member)
			if err != nil || found {
				return true, err
			}
			return yield(member, score), nil
		})
	}
}

// zsetInter is what all have.
func zsetInter(a *zsetAlgebra) scoredMembers {
	a.sort()
	return func(yield func([]byte, float64) bool) error {
		return a.each(0, func(member []byte, score float64) (bool, error) {
			score = orZero(score)
			for i := range a.inputs[1:] {
				in := &a.inputs[1+i]
				value, ok, err := in.table.Get(member)
				if err != nil || !ok {
					return true, err
				}
				score = a.aggregate(score, in.of(value))
			}
			return yield(member, score), nil
		})
	}
}

// zsetUnion is what any has.
func zsetUnion(a *zsetAlgebra) scoredMembers {
	a.sort()
	total := int64(0)
	for i := range a.inputs {
		total += a.inputs[i].table.Len()
	}
	if total <= maxRemembered {
		return a.remembered
	}
	return func(yield func([]byte, float64) bool) error {
		more := true
		for i := 0; more && i < len(a.inputs); i++ {
			err := a.each(i, func(member []byte, score float64) (bool, error) {
				found, err := a.inAny(a.inputs[:i], member)
				if err != nil || found {
					return true, err
				}
				score = orZero(score)
				for j := range a.inputs[i+1:] {
					in := &a.inputs[i+1+j]
					value, ok, err := in.table.Get(member)
					if err != nil {
						return false, err
					}
					if ok {
						score = a.aggregate(score, in.of(value))
					}
				}
				more = yield(member, score)
				return more, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// remembered is a union whose members are kept until all is known of them.
func (a *zsetAlgebra) remembered(yield func([]byte, float64) bool) error {
	scores := make(map[string]float64)
	for i := range a.inputs {
		err := a.each(i, func(member []byte, score float64) (bool, error) {
			score = orZero(score)
			if old, ok := scores[string(member)]; ok {
				score = a.aggregate(old, score)
			}
			scores[string(member)] = score
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	for member, score := range scores {
		if !yield([]byte(member), score) {
			break
		}
	}
	return nil
}

// lesserScore and greaterScore keep the first of two scores that are equal, as a zero and a
// negative one are.
func lesserScore(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

func greaterScore(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}

// sort puts the inputs in the order in which Redis takes them: sums of scores depend on it.
func (a *zsetAlgebra) sort() {
	slices.SortStableFunc(a.inputs, func(a, b scoredInput) int { return cmp.Compare(a.table.Len(), b.table.Len()) })
}

// each calls visit for the members of an input until it returns false, or an error.
func (a *zsetAlgebra) each(i int, visit func(member []byte, score float64) (bool, error)) error {
	in := &a.inputs[i]
	var failure error
	err := in.table.All(func(member, value []byte) bool {
		more, err := visit(member, in.of(value))
		failure = err
		return more && err == nil
	})
	return cmp.Or(failure, err)
}

func (a *zsetAlgebra) inAny(inputs []scoredInput, member []byte) (bool, error) {
	for i := range inputs {
		if _, ok, err := inputs[i].table.Get(member); err != nil || ok {
			return ok, err
		}
	}
	return false, nil
}

func cmdZdiff(x *call) { x.zsetReply(zsetDiff) }

func cmdZinter(x *call) { x.zsetReply(zsetInter) }

func cmdZunion(x *call) { x.zsetReply(zsetUnion) }

func cmdZdiffstore(x *call) { x.zsetStore(zsetDiff) }

func cmdZinterstore(x *call) { x.zsetStore(zsetInter) }

func cmdZunionstore(x *call) { x.zsetStore(zsetUnion) }

// zsetAlgebra reads what follows the name, or the destination, of a command and opens the
// inputs. It has replied, and returns false, if something is wrong with them.
func (x *call) zsetAlgebra(args [][]byte) (*zsetAlgebra, bool) {
	n, ok := parseInt(args[0])
	switch {
	case !ok:
		x.err(msgNotInteger)
		return nil, false
	case n < 1:
		x.err("ERR at least 1 input key is needed for '" + x.cmd.full + "' command")
		return nil, false
	case n > int64(len(args)-1):
		x.err(msgSyntax)
		return nil, false
	}
	a := &zsetAlgebra{inputs: make([]scoredInput, n), aggregate: addScore}
	for i := range a.inputs {
		if !x.scoredInput(&a.inputs[i], args[1+i]) {
			return nil, false
		}
	}
	msg := a.options(args[1+n:], x.cmd.name)
	if msg != "" {
		x.err(msg)
	}
	return a, msg == ""
}

// scoredInput opens the sorted set, or set, at a key. It has replied, and returns false, if
// that is none.
func (x *call) scoredInput(in *scoredInput, key []byte) bool {
	v, err := x.unit.Get(key)
	if err != nil {
		x.fail(err)
		return false
	}
	typ := store.ZSet
	if v.Type == store.Set {
		typ = store.Set
	}
	in.isSet, in.weight = typ == store.Set, 1
	if x.cmd.flags&flagWrite != 0 {
		x.looked(key, &v)
	}
	return x.openWhole(&in.table, key, typ)
}

// options reads those of a command; it returns an error reply, or "".
func (a *zsetAlgebra) options(rest [][]byte, name string) string {
	stores, counts, diff := strings.HasSuffix(name, "store"), name == "zintercard", strings.HasPrefix(name, "zdiff")
	for ; len(rest) > 0; rest = rest[1:] {
		switch {
		case !diff && !counts && len(rest) > len(a.inputs) && equalFold(rest[0], "weights"):
			for i := range a.inputs {
				var ok bool
				if a.inputs[i].weight, ok = parseFloat(rest[1+i]); !ok {
					return "ERR weight value is not a float"
				}
			}
			rest = rest[len(a.inputs):]
		case !diff && !counts && len(rest) > 1 && equalFold(rest[0], "aggregate"):
			rest = rest[1:]
			switch {
			case equalFold(rest[0], "sum"):
				a.aggregate = addScore
			case equalFold(rest[0], "min"):
				a.aggregate = lesserScore
			case equalFold(rest[0], "max"):
				a.aggregate = greaterScore
			default:
				return msgSyntax
			}
		case !stores && !counts && equalFold(rest[0], "withscores"):
			a.scores = true
		case counts && len(rest) > 1 && equalFold(rest[0], "limit"):
			rest = rest[1:]
			var ok bool
			if a.limit, ok = parseInt(rest[0]); !ok || a.limit < 0 {
				return "ERR LIMIT can't be negative"
			}
		default:
			return msgSyntax
		}
	}
	return ""
}

// zsetReply replies with what comes of the sorted sets in args[2:].
func (x *call) zsetReply(of zsetOperation) {
	a, ok := x.zsetAlgebra(x.args[1:])
	if !ok {
		return
	}
	type scored struct {
		member []byte
		score  float64
	}
	var all []scored
	size, fits := int64(0), true
	err := of(a)(func(member []byte, score float64) bool {
		size += int64(len(member)) + 3*elementReply
		if fits = x.keepable(size); fits {
			all = append(all, scored{slices.Clone(member), score})
		}
		return fits
	})
	if err != nil {
		x.fail(err)
		return
	}
	if !fits {
		x.err(x.overOutputBuffer())
		return
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), slices.Compare(a.member, b.member))
	})
	x.scoredArray(len(all), a.scores)
	for _, e := range all {
		x.scored(e.member, e.score, a.scores)
	}
}

// zsetStore makes what comes of the sorted sets in args[3:] the value of args[1].
func (x *call) zsetStore(of zsetOperation) {
	if a, ok := x.zsetAlgebra(x.args[2:]); ok {
		x.storeScored(x.args[1], x.cmd.name, of(a))
	}
}

// storeScored makes members the value of a key, and replies with how many they are; event is
// what is told of it.
func (x *call) storeScored(key []byte, event string, members scoredMembers) {
	old, err := x.unit.Get(key)
	if err != nil {
		x.fail(err)
		return
	}
	var dst collection.ZSet
	dst.Limit(int(x.srv.settings.packed.Load()))
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
		if longest > compactLength || dst.Len() > compactScored {
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
	x.integer(dst.Len())
}

func cmdZintercard(x *call) {
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
	x.integer(count)
}
