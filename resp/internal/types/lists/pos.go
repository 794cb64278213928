package lists

import (
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// posOptions are the options of LPOS.
type posOptions struct {
	rank    int64 // the first match that counts; negative: from the end
	count   int64 // 0: all, with several
	several bool
	most    int64 // elements that are compared; 0: all
}

// parsePosOptions returns an error reply, or "".
func parsePosOptions(args [][]byte) (o posOptions, msg string) {
	o = posOptions{rank: 1, count: 1}
	for ; len(args) > 0; args = args[2:] {
		if len(args) == 1 {
			return o, command.MsgSyntax
		}
		n, ok := wire.ParseInt(args[1])
		switch {
		case wire.EqualFold(args[0], "rank"):
			if o.rank = n; ok && n == math.MinInt64 {
				return o, msgNoOpposite
			}
			if ok && n == 0 {
				return o, "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list"
			}
		case wire.EqualFold(args[0], "count"):
			o.count, o.several = n, true
			if !ok || n < 0 {
				return o, "ERR COUNT can't be negative"
			}
		case wire.EqualFold(args[0], "maxlen"):
			o.most = n
			if !ok || n < 0 {
				return o, "ERR MAXLEN can't be negative"
			}
		default:
			return o, command.MsgSyntax
		}
		if !ok {
			return o, command.MsgNotInteger
		}
	}
	return o, ""
}

// msgNoOpposite refuses the one number that has no opposite.
const msgNoOpposite = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"

func cmdLpos(x *command.Call) {
	o, msg := parsePosOptions(x.Args[3:])
	if msg != "" {
		x.Error(msg)
		return
	}
	l := &x.List
	if !OpenWholeList(x, l, x.Args[1]) {
		return
	}
	var found []int64
	skip, back, compared := o.rank-1, o.rank < 0, int64(0)
	if back {
		skip = -o.rank - 1
	}
	err := l.Range(0, math.MaxInt64, back, func(i int64, element []byte) bool {
		if string(element) == string(x.Args[2]) {
			if skip == 0 {
				found = append(found, i)
			} else {
				skip--
			}
		}
		compared++
		return compared != o.most && (o.count == 0 || int64(len(found)) < o.count)
	})
	switch {
	case err != nil:
		x.Fail(err)
	case o.several:
		x.Array(len(found))
		for _, i := range found {
			x.Int(i)
		}
	case len(found) == 0:
		x.Null()
	default:
		x.Int(found[0])
	}
}
