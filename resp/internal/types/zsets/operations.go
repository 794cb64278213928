package zsets

import (
	"cmp"
	"math"
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// Commands on several sorted sets, or sets, whose members all have the score 1.

// A scoredMembers calls yield for the members of a result, each once, until it returns false.
type scoredMembers func(yield func(member []byte, score float64) bool) error

// A openOperand is one of the sorted sets, or sets.
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

// A openOperands is what ZUNION and its like are asked for.
type zsetAlgebra struct {
	call      *command.Call
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
	return func(yield func([]byte, float64) bool) error {
		if scores, err := a.remembered(); err != nil {
			return err
		} else if scores != nil {
			for member, score := range scores {
				if !yield([]byte(member), score) {
					break
				}
			}
			return nil
		}
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

// remembered is the union, or nil if there is no memory to spare for it.
func (a *zsetAlgebra) remembered() (map[string]float64, error) {
	scores := make(map[string]float64)
	room := true
	for i := 0; room && i < len(a.inputs); i++ {
		err := a.each(i, func(member []byte, score float64) (bool, error) {
			score = orZero(score)
			if old, ok := scores[string(member)]; ok {
				score = a.aggregate(old, score)
			} else if room = a.call.TryTake(int64(len(member)) + command.BuiltEntry); !room {
				return false, nil
			}
			scores[string(member)] = score
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	if !room {
		a.call.ReleaseTaken()
		return nil, nil
	}
	return scores, nil
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

// openOperands reads what follows the name, or the destination, of a command and opens the
// inputs. It has replied, and returns false, if something is wrong with them.
func openOperands(x *command.Call, args [][]byte) (*zsetAlgebra, bool) {
	n, ok := wire.ParseInt(args[0])
	switch {
	case !ok:
		x.Error(command.MsgNotInteger)
		return nil, false
	case n < 1:
		x.Error("ERR at least 1 input key is needed for '" + x.Row.Full + "' command")
		return nil, false
	case n > int64(len(args)-1):
		x.Error(command.MsgSyntax)
		return nil, false
	}
	a := &zsetAlgebra{call: x, inputs: make([]scoredInput, n), aggregate: addScore}
	for i := range a.inputs {
		if !openOperand(x, &a.inputs[i], args[1+i]) {
			return nil, false
		}
	}
	msg := a.options(args[1+n:], x.Row.Name)
	if msg != "" {
		x.Error(msg)
	}
	return a, msg == ""
}

// openOperand opens the sorted set, or set, at a key. It has replied, and returns false, if
// that is none.
func openOperand(x *command.Call, in *scoredInput, key []byte) bool {
	v, err := x.Unit.Get(key)
	if err != nil {
		x.Fail(err)
		return false
	}
	typ := store.ZSet
	if v.Type == store.Set {
		typ = store.Set
	}
	in.isSet, in.weight = typ == store.Set, 1
	if x.Row.Flags&command.FlagWrite != 0 {
		x.CountLookup(key, &v)
	}
	return x.OpenWholeTable(&in.table, key, typ)
}
