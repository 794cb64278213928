package zsets

import (
	"bytes"
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

const (
	msgNotScoreRange = "ERR min or max is not a float"
	msgNotLexRange   = "ERR min or max not valid string range item"
)

// zsetBounds say which members of a sorted set are meant. What is between two ranks, scores or
// members follows each other in it, so all of them come down to rank keys.
type zsetBounds interface {
	// span returns the rank keys from the first of them up to, not including, another; ok is
	// false if there is none. Where members are meant and scores differ, it may matter from
	// which end it is looked for them.
	span(z *collection.ZSet, back bool) (from, to []byte, ok bool, err error)
}

// rankBounds are two ranks, both included, which may count from the end.
type rankBounds struct{ from, to int64 }

func (b rankBounds) span(z *collection.ZSet, _ bool) (from, to []byte, ok bool, err error) {
	n := z.Len()
	first, last := command.Within(b.from, b.to, n)
	if first > last {
		return nil, nil, false, nil
	}
	if first > 0 {
		if from, err = z.KeyAt(first); err != nil {
			return nil, nil, false, err
		}
	}
	if last < n-1 {
		if to, err = z.KeyAt(last); err != nil {
			return nil, nil, false, err
		}
		to = append(to, 0)
	}
	return from, to, true, nil
}

// scoreBounds are two scores.
type scoreBounds struct {
	min, max               float64
	withoutMin, withoutMax bool
}

// scoreBoundsOf reads two scores, each behind a parenthesis if it is not included.
func scoreBoundsOf(low, high []byte) (b scoreBounds, ok bool) {
	if b.min, b.withoutMin, ok = scoreBound(low); ok {
		b.max, b.withoutMax, ok = scoreBound(high)
	}
	return b, ok
}

func scoreBound(text []byte) (score float64, without, ok bool) {
	if without = len(text) > 0 && text[0] == '('; without {
		text = text[1:]
	}
	score, ok = wire.ParseBound(text)
	return score, without, ok && !math.IsNaN(score)
}

func (b scoreBounds) span(*collection.ZSet, bool) (from, to []byte, ok bool, err error) {
	if b.withoutMin {
		from = collection.RankKeyBehind(nil, b.min)
	} else {
		from = collection.RankKey(nil, b.min, nil)
	}
	if b.withoutMax {
		to = collection.RankKey(nil, b.max, nil)
	} else {
		to = collection.RankKeyBehind(nil, b.max)
	}
	return from, to, bytes.Compare(from, to) < 0, nil
}

// A lexBound is a member, or what comes before or behind all of them.
type lexBound struct {
	// beyond is -1 for what comes before all members, 1 for what comes behind.
	beyond  int
	member  []byte
	without bool
}

func (b lexBound) compare(member []byte) int {
	if b.beyond != 0 {
		return -b.beyond
	}
	return bytes.Compare(member, b.member)
}

func (b lexBound) isMinOf(member []byte) bool {
	c := b.compare(member)
	return c > 0 || c == 0 && !b.without
}

func (b lexBound) isMaxOf(member []byte) bool {
	c := b.compare(member)
	return c < 0 || c == 0 && !b.without
}

// lexBounds are two members.
type lexBounds struct{ min, max lexBound }

// lexBoundsOf reads two members, each behind a bracket or, if it is not included, a
// parenthesis, or "-" and "+" for all.
func lexBoundsOf(low, high []byte) (b lexBounds, ok bool) {
	if b.min, ok = lexBoundOf(low); ok {
		b.max, ok = lexBoundOf(high)
	}
	return b, ok
}

func lexBoundOf(text []byte) (b lexBound, ok bool) {
	if len(text) == 0 {
		return b, false
	}
	alone := len(text) == 1 || text[1] == 0
	switch text[0] {
	case '-':
		return lexBound{beyond: -1}, alone
	case '+':
		return lexBound{beyond: 1}, alone
	case '(':
		return lexBound{member: text[1:], without: true}, true
	case '[':
		return lexBound{member: text[1:]}, true
	}
	return b, false
}

// empty tells that nothing can lie between the two.
func (b lexBounds) empty() bool {
	switch {
	case b.min.beyond != 0 || b.max.beyond != 0:
		return b.min.beyond == 1 || b.max.beyond == -1
	}
	c := bytes.Compare(b.min.member, b.max.member)
	return c > 0 || c == 0 && (b.min.without || b.max.without)
}

func (b lexBounds) span(z *collection.ZSet, back bool) (from, to []byte, ok bool, err error) {
	n := z.Len()
	if n == 0 || b.empty() {
		return nil, nil, false, nil
	}
	first, err := z.KeyAt(0)
	if err != nil {
		return nil, nil, false, err
	}
	last, err := z.KeyAt(n - 1)
	if err != nil {
		return nil, nil, false, err
	}
	score := collection.ScoreOf(first)
	if collection.ScoreOf(last) != score {
		return b.run(z, first, last, back)
	}
	from, to = collection.RankKey(nil, score, b.min.member), collection.RankKey(nil, score, b.max.member)
	if b.min.without {
		from = append(from, 0)
	}
	switch {
	case b.max.beyond != 0:
		to = collection.RankKeyBehind(nil, score)
	case !b.max.without:
		to = append(to, 0)
	}
	return from, to, true, nil
}

// run finds the members where scores differ, so that they are in no order: as Redis does in
// its compact form, those that follow each other from the first one on that is behind the
// lower bound, or, from the end, before the upper one.
func (b lexBounds) run(z *collection.ZSet, first, last []byte, back bool) (from, to []byte, ok bool, err error) {
	size := len(collection.AppendScore(nil, 0))
	if !b.min.isMinOf(last[size:]) || !b.max.isMaxOf(first[size:]) {
		return nil, nil, false, nil
	}
	near, far := b.min.isMinOf, b.max.isMaxOf
	if back {
		near, far = far, near
	}
	var begin, end []byte
	err = z.Range(nil, nil, back, func(member []byte, score float64) bool {
		switch {
		case begin == nil && !near(member):
			return true
		case !far(member):
			return false
		case begin == nil:
			begin = collection.RankKey(nil, score, member)
		}
		end = collection.RankKey(end[:0], score, member)
		return true
	})
	if err != nil || begin == nil {
		return nil, nil, false, err
	}
	if back {
		begin, end = end, begin
	}
	return begin, append(end, 0), true, nil
}
