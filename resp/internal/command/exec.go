package command

import (
	"cmp"
	"strings"

	"github.com/ringside-kv/ringside/resp/wire"
)

// RING EXEC runs a transaction: keys that are watched with their tokens, and commands with their numbers
// of words.

// SplitExec splits the arguments of RING EXEC into keys with tokens and commands.
func SplitExec(args [][]byte) (watched, cmds [][]byte, ok bool) {
	n, ok := wire.ParseInt(args[2])
	rest := args[3:]
	if !ok || n < 0 || n > int64(len(rest)/2) {
		return nil, nil, false
	}
	return rest[:2*n], rest[2*n:], true
}

// WatchedKeys returns the keys that are watched, each with its token, that RING EXEC begins with behind
// three words; none of another command.
func (c *Row) WatchedKeys(args [][]byte) [][]byte {
	if !c.KeysOfExec {
		return nil
	}
	watched, _, _ := SplitExec(args)
	return watched
}

// A Watched is a key that is watched, with what RING WATCH has said of it.
type Watched struct{ Key, Token []byte }

// ExecRequest returns RING EXEC, or RING VIEW if none of its commands writes, of watched keys and of commands with their
// numbers of words, which are so many bulk strings: for a user, if the scripts in it are to be checked as its own.
func ExecRequest(user string, writes bool, watched []Watched, queued []byte, words int) []byte {
	size := len(user) + 128
	for _, w := range watched {
		size += len(w.Key) + len(w.Token) + 32
	}
	head := []string{"RING", "VIEW"}
	if writes {
		head[1] = "EXEC"
	}
	if user != "" {
		head = append([]string{"RING", "AS", user}, head...)
	}
	b := wire.AppendArray(make([]byte, 0, len(queued)+size), len(head)+1+2*len(watched)+words)
	for _, word := range head {
		b = wire.AppendBulkString(b, word)
	}
	b = wire.AppendBulkInt(b, int64(len(watched)))
	for _, w := range watched {
		b = wire.AppendBulk(wire.AppendBulk(b, w.Key), w.Token)
	}
	return append(b, queued...)
}

// EachQueued goes over commands that come with their numbers of words: with the place of each
// one's first word.
func EachQueued(cmds [][]byte) func(yield func(at int, args [][]byte) bool) {
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

// CountQueued returns the number of commands that EachQueued goes over.
func CountQueued(cmds [][]byte) (n int) {
	for range EachQueued(cmds) {
		n++
	}
	return n
}

// FindQueued returns the first command of RING EXEC of which f is true, or nil.
func (t *Table) FindQueued(args [][]byte, f func(cmd *Row, args [][]byte) bool) (*Row, [][]byte) {
	_, cmds, _ := SplitExec(args)
	for _, words := range EachQueued(cmds) {
		if cmd, msg := t.Lookup(words); msg == "" && f(cmd, words) {
			return cmd, words
		}
	}
	return nil, nil
}

// Adds reports whether a command, or one of those that RING EXEC runs, writes and does more than to
// remove.
func (t *Table) Adds(c *Row, args [][]byte) bool {
	adds := func(c *Row, _ [][]byte) bool { return c.Flags&FlagWrite != 0 && !c.Frees }
	if c.KeysOfExec {
		c, _ := t.FindQueued(args, adds)
		return c != nil
	}
	return adds(c, args)
}

// Rejection is the error reply to a command that is not run. That of EXEC, also where it runs
// for another node, begins with EXECABORT, as in Redis: the transaction is over, and nothing of
// it was run. The command is nil if there is none of the name.
func Rejection(cmd *Row, msg string) string {
	if msg == "" || cmd == nil || cmp.Or(cmd.As, cmd).InMulti != MultiEnds || strings.HasPrefix(msg, "EXECABORT ") {
		return msg
	}
	return "EXECABORT Transaction discarded because of: " + strings.TrimPrefix(msg, "ERR ")
}

// KeysOfExec finds the keys of RING EXEC.
func (t *Table) KeysOfExec(args [][]byte, dst []KeyRef) ([]KeyRef, error) {
	watched, cmds, ok := SplitExec(args)
	if !ok {
		return dst, ErrNoKeys
	}
	for i := 0; i < len(watched); i += 2 {
		dst = append(dst, KeyRef{Pos: 3 + i})
	}
	first := len(args) - len(cmds)
	for at, words := range EachQueued(cmds) {
		cmd, msg := t.Lookup(words)
		if msg != "" || cmd.Within != nil || !cmd.Keyed {
			continue
		}
		n := len(dst)
		dst, _ = cmd.KeysOf(words, dst) // or its handler says what is wrong
		for i := n; i < len(dst); i++ {
			dst[i] = KeyRef{Pos: first + at + dst[i].Pos}
		}
	}
	return dst, nil
}
