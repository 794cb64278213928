package streams

import (
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

// XNACK, of Redis 8.8: a consumer gives pending entries back to the group.

// A nack is what XNACK asks for.
type nack struct {
	mode  nackMode
	ids   []collection.ID
	count int64 // deliveries that the entries are to have, -1: as the mode says
	force bool  // entries that are not pending become so
}

// A nackMode says what becomes of the number of deliveries.
type nackMode uint8

const (
	nackSilent nackMode = iota // one less
	nackFail                   // the same
	nackFatal                  // the most that there can be
)

func nackModeOf(word []byte) (mode nackMode, ok bool) {
	switch {
	case wire.EqualFold(word, "silent"):
		return nackSilent, true
	case wire.EqualFold(word, "fail"):
		return nackFail, true
	case wire.EqualFold(word, "fatal"):
		return nackFatal, true
	}
	return 0, false
}

// deliveries returns how often an entry counts as delivered that was so often.
func (n *nack) deliveries(count uint64) uint64 {
	switch {
	case n.count >= 0:
		return uint64(n.count)
	case n.mode == nackFatal:
		return math.MaxInt64
	case n.mode == nackSilent && count > 0:
		return count - 1
	}
	return count
}

// parseNack reads the arguments behind the group, or returns an error reply.
func parseNack(args [][]byte) (n nack, msg string) {
	mode, ok := nackModeOf(args[0])
	if !ok {
		return n, "ERR mode must be SILENT, FAIL, or FATAL"
	}
	n.mode, n.count = mode, -1
	var words [][]byte
	for args = args[1:]; len(args) > 0; args = args[1:] {
		word, more := args[0], args[1:]
		switch {
		case wire.EqualFold(word, "ids") && len(more) > 0:
			number, isInt := wire.ParseInt(more[0])
			if !isInt || number < 1 || number > math.MaxInt32 {
				return n, "ERR numids must be a positive integer"
			}
			if number > int64(len(more)-1) {
				return n, "ERR number of IDs doesn't match numids"
			}
			words, args = more[1:1+number], args[1+number:]
		case wire.EqualFold(word, "force"):
			n.force = true
		case wire.EqualFold(word, "retrycount") && len(more) > 0:
			if n.count, ok = wire.ParseInt(more[0]); !ok {
				return n, command.MsgNotInteger
			}
			if n.count < 0 {
				return n, "ERR Invalid RETRYCOUNT value, must be >= 0"
			}
			args = more
		default:
			return n, "ERR Unrecognized XNACK option '" + string(whole(word)) + "'"
		}
	}
	if words == nil {
		return n, "ERR syntax error, expected IDS keyword"
	}
	n.ids = make([]collection.ID, len(words))
	for i, word := range words {
		if n.ids[i], ok = parseStreamID(word, 0); !ok {
			return n, msgStreamID
		}
	}
	return n, ""
}

func cmdXnack(x *command.Call) {
	g, ok := groupFound(x, x.Args[1], x.Args[2])
	if !ok {
		return
	}
	n, msg := parseNack(x.Args[3:])
	if msg != "" {
		x.Error(msg)
		return
	}
	released := int64(0)
	for _, id := range n.ids {
		ok, err := n.release(&x.Stream, g, id)
		if err != nil {
			x.Abort(err)
			return
		}
		if ok {
			released++
		}
	}
	g.Save()
	x.Int(released)
}

// release releases one entry, and reports whether it is pending.
func (n *nack) release(s *collection.Stream, g *collection.Group, id collection.ID) (bool, error) {
	old, err := g.Find(id)
	if err != nil {
		return false, err
	}
	count := uint64(0)
	if old != nil {
		count = old.Count
	} else {
		if !n.force {
			return false, nil
		}
		if _, found, err := s.Get(id); err != nil || !found {
			return false, err
		}
	}
	return true, g.Release(id, old, n.deliveries(count))
}
