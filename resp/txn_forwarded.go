package resp

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"

	"github.com/ringside-kv/ringside/resp/internal/command"
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
// of the keys that are watched still hold; else its reply is null. If its sender is atomic, an error undoes all.
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
	watched, cmds, ok := command.SplitExec(x.Args)
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
	x.Array(command.CountQueued(cmds))
	for _, args := range command.EachQueued(cmds) {
		at := len(x.Buf)
		cmd, msg := x.srv.table.Lookup(args)
		if msg == "" && (cmd.Between && cmd.As == nil || !cmd.Keyed && !cmd.Neutral) {
			msg = "ERR '" + cmd.Full + "' is not forwarded"
		}
		if msg != "" {
			if x.conn.reject(cmd, msg); undoTransaction(x, x.Buf[at:]) {
				return
			}
			continue
		}
		if err := x.conn.writable(cmd, args); err != nil { // since the first command
			x.RefuseRequest = command.ErrorText(err)
			return
		}
		if x.inner(cmd, args); x.StartsAgain() || undoTransaction(x, x.Buf[at:]) {
			return
		}
	}
}
