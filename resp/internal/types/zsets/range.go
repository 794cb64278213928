package zsets

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

func cmdZrange(x *command.Call) { replyRange(x, &zrange{auto: true}, x.Args[1:]) }

func cmdZrevrange(x *command.Call) { replyRange(x, &zrange{back: true}, x.Args[1:]) }

func cmdZrangebyscore(x *command.Call) { replyRange(x, &zrange{by: byScore}, x.Args[1:]) }

func cmdZrevrangebyscore(x *command.Call) {
	replyRange(x, &zrange{by: byScore, back: true}, x.Args[1:])
}

func cmdZrangebylex(x *command.Call) { replyRange(x, &zrange{by: byLex}, x.Args[1:]) }

func cmdZrevrangebylex(x *command.Call) { replyRange(x, &zrange{by: byLex, back: true}, x.Args[1:]) }

func cmdZrangestore(x *command.Call) { replyRange(x, &zrange{auto: true, store: true}, x.Args[2:]) }

// What the bounds of a range are.
const (
	byRank = iota
	byScore
	byLex
)

// A zrange is what ZRANGE and its like are asked for.
type zrange struct {
	by          int
	back        bool
	auto, store bool // options say what it is by, and whether backwards; the result is stored
	scores      bool
	offset      int64
	limit       int64 // below 0: none
	bounds      zsetBounds
}

// parse reads what follows the key; it returns an error reply, or "".
func (r *zrange) parse(low, high []byte, rest [][]byte) string {
	r.limit = -1
	by, back := r.auto, r.auto // may still be said
	for ; len(rest) > 0; rest = rest[1:] {
		switch {
		case !r.store && wire.EqualFold(rest[0], "withscores"):
			r.scores = true
		case wire.EqualFold(rest[0], "limit") && len(rest) > 2:
			var ok, ok2 bool
			r.offset, ok = wire.ParseInt(rest[1])
			if r.limit, ok2 = wire.ParseInt(rest[2]); !ok || !ok2 {
				return command.MsgNotInteger
			}
			rest = rest[2:]
		case back && wire.EqualFold(rest[0], "rev"):
			r.back, back = true, false
		case by && wire.EqualFold(rest[0], "bylex"):
			r.by, by = byLex, false
		case by && wire.EqualFold(rest[0], "byscore"):
			r.by, by = byScore, false
		default:
			return command.MsgSyntax
		}
	}
	switch {
	case r.limit != -1 && r.by == byRank:
		return "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
	case r.scores && r.by == byLex:
		return "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
	case r.by == byRank:
		r.limit, r.offset = -1, 0
	case r.back:
		low, high = high, low
	}
	bounds, msg := boundsOf(r.by, low, high)
	r.bounds = bounds
	return msg
}

// boundsOf reads two bounds; it returns an error reply, or "".
func boundsOf(by int, low, high []byte) (zsetBounds, string) {
	switch by {
	case byScore:
		b, ok := scoreBoundsOf(low, high)
		if !ok {
			return nil, msgNotScoreRange
		}
		return b, ""
	case byLex:
		b, ok := lexBoundsOf(low, high)
		if !ok {
			return nil, msgNotLexRange
		}
		return b, ""
	}
	from, ok := wire.ParseInt(low)
	to, ok2 := wire.ParseInt(high)
	if !ok || !ok2 {
		return nil, command.MsgNotInteger
	}
	return rankBounds{from, to}, ""
}

// manySkipped is from how many members on it is quicker to find the next one by its rank.
const manySkipped = 256

// narrow returns the rank keys between which the members lie, without what the offset skips
// if that is much, and how many members are still to be skipped; ok is false if nothing lies
// between them.
func (r *zrange) narrow(z *collection.ZSet) (from, to []byte, skip int64, ok bool, err error) {
	bounds := r.bounds
	if ranks, is := bounds.(rankBounds); is && r.back {
		first, last := command.Within(ranks.from, ranks.to, z.Len())
		if first > last {
			return nil, nil, 0, false, nil
		}
		bounds = rankBounds{z.Len() - 1 - last, z.Len() - 1 - first}
	}
	from, to, ok, err = bounds.span(z, r.back)
	switch {
	case err != nil || !ok || r.offset < 0 || r.limit == 0 || r.offset >= z.Len():
		return nil, nil, 0, false, err
	case r.offset < manySkipped:
		return from, to, r.offset, true, nil
	}
	rank := int64(0)
	if r.back {
		if rank, err = z.Rank(to); err == nil {
			rank -= 1 + r.offset
		}
	} else if rank, err = z.Rank(from); err == nil {
		rank += r.offset
	}
	if err != nil || rank < 0 || rank >= z.Len() {
		return nil, nil, 0, false, err
	}
	key, err := z.KeyAt(rank)
	if r.back {
		to = append(key, 0)
	} else {
		from = key
	}
	return from, to, 0, true, err
}

// members calls yield for the members, in order, until it returns false.
func (r *zrange) members(z *collection.ZSet, yield func(member []byte, score float64) bool) error {
	from, to, skip, ok, err := r.narrow(z)
	if err != nil || !ok {
		return err
	}
	left := r.limit
	return z.Range(from, to, r.back, func(member []byte, score float64) bool {
		if skip > 0 {
			skip--
			return true
		}
		left--
		return yield(member, score) && left != 0
	})
}

// replyRange is ZRANGE and its like; args are the key and what follows.
func replyRange(x *command.Call, r *zrange, args [][]byte) {
	if msg := r.parse(args[1], args[2], args[3:]); msg != "" {
		x.Error(msg)
		return
	}
	z := &x.ZSet
	if !OpenSource(x, z, args[0]) {
		return
	}
	if r.store {
		StoreScored(x, x.Args[1], x.Row.Name, func(yield func(member []byte, score float64) bool) error { return r.members(z, yield) })
		return
	}
	if b, ok := r.bounds.(rankBounds); ok {
		n := int64(0)
		if first, last := command.Within(b.from, b.to, z.Len()); first <= last {
			n = last - first + 1
		}
		if x.RunApart(command.Share(z.Value().Size, z.Len(), n) + n*command.ElementReply) {
			return
		}
	}
	body := wire.Writer{Proto: x.Proto}
	n, fits := 0, true
	err := r.members(z, func(member []byte, score float64) bool {
		if fits = x.FitsReply(int64(len(body.Buf) + len(member) + 3*command.ElementReply)); fits {
			replyScored(&body, member, score, r.scores)
			n++
		}
		return fits
	})
	switch {
	case err != nil:
		x.Fail(err)
	case !fits:
		if !x.RunAgainApart() {
			x.RefuseByLimit(x.OverOutputBuffer())
		}
	case !x.RunApart(int64(len(body.Buf))):
		scoredArray(x.Writer, n, r.scores)
		x.Buf = append(x.Buf, body.Buf...)
	}
}

// scoredArray announces n members, with their scores or without.
func scoredArray(r *wire.Writer, n int, scores bool) {
	if scores && r.Proto != 3 {
		n *= 2
	}
	r.Array(n)
}

// replyScored appends a member, with its score or without.
func replyScored(r *wire.Writer, member []byte, score float64, withScore bool) {
	if withScore && r.Proto == 3 {
		r.Array(2)
	}
	r.Bulk(member)
	if withScore {
		r.Double(score)
	}
}

func cmdZcount(x *command.Call) { countBetween(x, byScore) }

func cmdZlexcount(x *command.Call) { countBetween(x, byLex) }

// countBetween replies with how many members are between args[2] and args[3].
func countBetween(x *command.Call, by int) {
	b, msg := boundsOf(by, x.Args[2], x.Args[3])
	if msg != "" {
		x.Error(msg)
		return
	}
	z, ok := WholeZSet(x)
	if !ok {
		return
	}
	from, to, ok, err := b.span(z, false)
	n := int64(0)
	if err == nil && ok {
		n, err = z.Count(from, to)
	}
	if err != nil {
		x.Fail(err)
		return
	}
	x.Int(n)
}

func cmdZremrangebyrank(x *command.Call) { removeBetween(x, byRank) }

func cmdZremrangebyscore(x *command.Call) { removeBetween(x, byScore) }

func cmdZremrangebylex(x *command.Call) { removeBetween(x, byLex) }

// removeBetween removes what is between args[2] and args[3].
func removeBetween(x *command.Call, by int) {
	b, msg := boundsOf(by, x.Args[2], x.Args[3])
	if msg != "" {
		x.Error(msg)
		return
	}
	z, ok := zsetAt(x)
	if !ok {
		return
	}
	from, to, ok, err := b.span(z, false)
	n := int64(0)
	if err == nil && ok {
		if n, err = z.RemoveRange(from, to); err == nil {
			err = z.Flush()
		}
	}
	if err != nil {
		x.FailPart(n > 0, err)
		return
	}
	if n > 0 {
		removedScored(x, x.Args[1], z, x.Row.Name)
	}
	x.Int(n)
}
