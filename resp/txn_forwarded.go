package resp

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// What nodes ask one another, or themselves, for transactions:
//
//	RING WATCH key [key ...]
//	RING EXEC  n [key token]*n [count word ...]...
//	RING VIEW  the same, if nothing in it writes
//
// RING WATCH answers each key with a token, which says all that matters for whether it has
// changed since: which process served it in which epoch, the key's version, its expiry.
// RING EXEC runs the commands, each its number of words and these, in one unit, if the tokens
// of the keys that are watched still hold; else its reply is null.
//
// Invariant: both hold the latches of their keys, and go by the routes of their unit. So
// whoever writes between them does it under the same latch in the same process, where the
// version tells, or in another epoch. A token therefore never holds too long; it may hold
// too short: keys share versions, and a new epoch need not mean a change.

// tokenSize is: process, epoch, version (two numbers), expiry.
const tokenSize = 5 * 8

// newProcess returns a number that no other process has, or had.
func newProcess() uint64 { return rand.Uint64() }

// wasMissing is in the place of the version of all keys for one that is not there: whatever
// empties ranges does not change it, and whatever made it counts for itself.
const wasMissing = ^uint64(0)

// appendToken appends what is to be remembered of a key, of which there is nothing that
// this unit has changed.
func (x *call) appendToken(b, key []byte, expiry int64, missing bool) []byte {
	epoch := uint64(0)
	if routes := x.conn.routes; routes != nil {
		epoch = routes.Placement.Lookup(x.Unit.Place(key).Token()).Epoch
	}
	all, own := x.Unit.Version(key).Parts()
	if missing {
		all = wasMissing
	}
	for _, n := range [...]uint64{x.srv.process, epoch, all, own, uint64(expiry)} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return b
}

// holds tells whether a key is as its token says.
func (x *call) holds(key, token []byte) bool {
	if len(token) != tokenSize {
		return false
	}
	expiry := int64(binary.BigEndian.Uint64(token[tokenSize-8:]))
	if expiry != 0 && expiry <= x.Unit.Now() {
		return false
	}
	var now [tokenSize]byte
	missing := binary.BigEndian.Uint64(token[2*8:]) == wasMissing
	return bytes.Equal(x.appendToken(now[:0], key, expiry, missing), token)
}

func cmdRingWatch(x *call) {
	keys := x.Args[2:]
	expiries := make([]int64, len(keys))
	missing := make([]bool, len(keys))
	for i, key := range keys {
		v, err := x.Unit.Peek(key)
		if err != nil {
			x.Fail(err)
			return
		}
		expiries[i], missing[i] = v.Expiry, !v.Exists()
	}
	// A key that has just been found to have expired was removed before it is watched.
	if err := x.Unit.Flush(); err != nil {
		x.Fail(err)
		return
	}
	x.Array(len(keys))
	for i, key := range keys {
		x.Bulk(x.appendToken(nil, key, expiries[i], missing[i]))
	}
}

func cmdRingExec(x *call) {
	watched, cmds, ok := splitExec(x.Args)
	if !ok {
		x.Error(command.MsgSyntax)
		return
	}
	defer x.shownExec()
	for i := 0; i < len(watched); i += 2 {
		if !x.holds(watched[i], watched[i+1]) {
			x.NullArray()
			return
		}
	}
	n := 0
	for range eachQueued(cmds) {
		n++
	}
	x.Array(n)
	for _, args := range eachQueued(cmds) {
		cmd, msg := x.srv.table.Lookup(args)
		if msg == "" && (cmd.Between && cmd.As == nil || !cmd.Keyed && !cmd.Neutral) {
			msg = "ERR '" + cmd.Full + "' is not forwarded"
		}
		if msg != "" {
			x.conn.reject(cmd, msg)
			continue
		}
		if x.inner(cmd, args); x.StartsAgain() {
			return
		}
	}
}

// splitExec splits the arguments of RING EXEC into keys with tokens and commands.
func splitExec(args [][]byte) (watched, cmds [][]byte, ok bool) {
	n, ok := wire.ParseInt(args[2])
	rest := args[3:]
	if !ok || n < 0 || n > int64(len(rest)/2) {
		return nil, nil, false
	}
	return rest[:2*n], rest[2*n:], true
}

// eachQueued goes over commands that come with their numbers of words: with the place of each
// one's first word.
func eachQueued(cmds [][]byte) func(yield func(at int, args [][]byte) bool) {
	return func(yield func(int, [][]byte) bool) {
		for at := 0; at < len(cmds); {
			n, ok := wire.ParseInt(cmds[at])
			at++
			if !ok || n < 1 || n > int64(len(cmds)-at) || !yield(at, cmds[at:at+int(n)]) {
				return
			}
			at += int(n)
		}
	}
}

// KeysOfExec finds the keys of RING EXEC.
func keysOfExec(t *command.Table, args [][]byte, dst []command.KeyRef) ([]command.KeyRef, error) {
	watched, cmds, ok := splitExec(args)
	if !ok {
		return dst, command.ErrNoKeys
	}
	for i := 0; i < len(watched); i += 2 {
		dst = append(dst, command.KeyRef{Pos: 3 + i})
	}
	first := len(args) - len(cmds)
	for at, words := range eachQueued(cmds) {
		cmd, msg := t.Lookup(words)
		if msg != "" || cmd.Within != nil || !cmd.Keyed {
			continue
		}
		n := len(dst)
		dst, _ = cmd.KeysOf(words, dst) // or its handler says what is wrong
		for i := n; i < len(dst); i++ {
			dst[i] = command.KeyRef{Pos: first + at + dst[i].Pos}
		}
	}
	return dst, nil
}

// asArray returns a request.
func asArray(name, sub string, args ...[]byte) []byte {
	b := wire.AppendArray(nil, 2+len(args))
	b = wire.AppendBulkString(b, name)
	b = wire.AppendBulkString(b, sub)
	for _, arg := range args {
		b = wire.AppendBulk(b, arg)
	}
	return b
}
