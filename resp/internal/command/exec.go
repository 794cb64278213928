package command

import "github.com/ringside-kv/ringside/resp/wire"

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
