package streams

import (
	"cmp"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

// addOptions are the options of XADD and XTRIM.
type addOptions struct {
	onlyIfThere bool
	trims       bool
	trim        collection.Trim
	refs        refPolicy
	// id is what XADD is told, unless it is to make one up; then seqGiven is whether that is
	// all of it.
	id       collection.ID
	idGiven  bool
	seqGiven bool
}

// trimNodes is how many nodes an approximate trim without a limit removes at most, and mostTrimmed how
// many entries.
const (
	trimNodes   = 100
	mostTrimmed = 1_000_000
)

// parseAddOptions reads the options in args, which begin behind the key, up to the ID of XADD.
// It returns what follows that, or an error reply. A node of a stream has so many entries.
func parseAddOptions(args [][]byte, add bool, node int64) (o addOptions, rest [][]byte, msg string) {
	o.trim.MaxLen, o.trim.Node = -1, cmp.Or(node, collection.TrimNode)
	limited, found, chosen := false, false, false
	for ; len(args) > 0 && !found; args = args[1:] {
		word, more := args[0], len(args) > 1
		policy, isPolicy := refPolicyOf(word)
		switch {
		case add && len(word) == 1 && word[0] == '*':
			found = true
		case more && (wire.EqualFold(word, "maxlen") || wire.EqualFold(word, "minid")):
			if args, msg = o.parseTrim(wire.EqualFold(word, "minid"), args[1:]); msg != "" {
				return o, nil, msg
			}
		case more && wire.EqualFold(word, "limit"):
			var ok bool
			if o.trim.Limit, ok = wire.ParseInt(args[1]); !ok {
				return o, nil, command.MsgNotInteger
			}
			if o.trim.Limit < 0 {
				return o, nil, "ERR The LIMIT argument must be >= 0."
			}
			limited, args = true, args[1:]
		case add && wire.EqualFold(word, "nomkstream"):
			o.onlyIfThere = true
		case isPolicy && !chosen:
			o.refs, chosen = policy, true
		case isPolicy:
			return o, nil, command.MsgSyntax
		case add:
			var ok bool
			if o.id, o.seqGiven, ok = parseNewID(word, 0); !ok {
				return o, nil, msgStreamID
			}
			o.idGiven, found = true, true
		default:
			return o, nil, command.MsgSyntax
		}
	}
	switch {
	case o.trim.Limit > 0 && !o.trims:
		return o, nil, "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"
	case !add && !o.trims:
		return o, nil, "ERR syntax error, XTRIM must be called with a trimming strategy"
	case limited && !o.trim.Approx:
		return o, nil, "ERR syntax error, LIMIT cannot be used without the special ~ option"
	case !limited && o.trim.Approx:
		o.trim.Limit = min(o.trim.Node, mostTrimmed/trimNodes) * trimNodes
	}
	return o, args, ""
}

// parseTrim reads what follows MAXLEN or MINID, and returns args from its last word on.
func (o *addOptions) parseTrim(minID bool, args [][]byte) (rest [][]byte, msg string) {
	if o.trims {
		return nil, "ERR syntax error, MAXLEN and MINID options at the same time are not compatible"
	}
	o.trims, o.trim.Approx = true, false
	if len(args) > 1 && len(args[0]) == 1 && (args[0][0] == '~' || args[0][0] == '=') {
		o.trim.Approx = args[0][0] == '~'
		args = args[1:]
	}
	var ok bool
	if minID {
		if o.trim.MinID, ok = parseStreamID(args[0], 0); !ok {
			return nil, msgStreamID
		}
		return args, ""
	}
	if o.trim.MaxLen, ok = wire.ParseInt(args[0]); !ok {
		return nil, command.MsgNotInteger
	}
	if o.trim.MaxLen < 0 {
		return nil, "ERR The MAXLEN argument must be >= 0."
	}
	return args, ""
}
