package command

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ringside-kv/ringside/resp/wire"
)

// MaxName is the length of the longest full name that the table can hold. Names
// are folded to lower case in an array of that size on the stack.
const MaxName = 32

// Table finds commands by name. It never changes once it is made, so any
// goroutine may use it.
type Table struct {
	ByName map[string]*Row // full names
	Top    []*Row          // without the subcommands
	All    []*Row          // by id, subcommands after their container
}

// NewTable copies the rows before it completes them: several servers
// of one process may build their tables at the same time.
func NewTable(families ...[]Row) *Table {
	t := &Table{ByName: map[string]*Row{}}
	for _, family := range families {
		for i := range family {
			t.Top = append(t.Top, t.add(&family[i], nil))
		}
	}
	return t
}

// add completes a copy of a row, with those of its subcommands.
func (t *Table) add(row, parent *Row) *Row {
	c := new(Row)
	*c = *row
	c.Full, c.Parent = c.Name, parent
	if c.Refusal != "" {
		c.Run = refused(c.Refusal)
	}
	if parent != nil {
		c.Full = parent.Name + "|" + c.Name
		c.AboutClients = c.AboutClients || parent.AboutClients
		c.NoMissEvent = c.NoMissEvent || parent.NoMissEvent
	}
	c.ID = len(t.All)
	t.All = append(t.All, c)
	t.check(c)
	t.ByName[c.Full] = c

	c.Keys = append([]KeySpec(nil), row.Keys...)
	for i := range c.Keys {
		s := &c.Keys[i]
		for flag := range strings.FieldsSeq(s.Flags) {
			switch flag {
			case "RW", "OW", "RM":
				s.Write = true
			case "not_key":
				s.NotKey = true
			}
		}
	}
	if _, _, _, movable := LegacyKeys(c.Keys); movable {
		c.Flags |= FlagMovableKeys
	}
	c.ACL = aclCategories(c)
	c.Quick = c.Flags&FlagBlocking == 0 && (c.Flags&FlagFast != 0 || row.Quick)
	c.MayWrite = c.Flags&FlagWrite != 0 || c.Script && c.Flags&FlagReadonly == 0
	c.Keyed = c.HasKeys() && !c.Unkeyed
	c.Latched = c.Between || c.Script
	c.ForNodes = row.ForNodes || c.Keyed || c.Spread || c.Neutral || c.Between || c.Publishes

	c.Subs = nil
	for _, sub := range row.Subs {
		c.Subs = append(c.Subs, t.add(sub, c))
	}
	return c
}

// check panics with what is wrong with a row.
func (t *Table) check(c *Row) {
	wrong := ""
	switch {
	case c.Name == "" || c.Name != strings.ToLower(c.Name) || strings.ContainsAny(c.Name, "| "):
		wrong = "bad name"
	case len(c.Full) > MaxName:
		wrong = "name too long"
	case t.ByName[c.Full] != nil:
		wrong = "second row"
	case c.Arity == 0:
		wrong = "no arity"
	case c.Run == nil && c.Flags&FlagContainer == 0:
		wrong = "no handler"
	case c.Flags&FlagContainer != 0 && (len(c.Subs) == 0 || c.Arity != -2):
		wrong = "container without subcommands or that needs none"
	case c.Parent != nil && (c.Parent.Parent != nil || len(c.Subs) > 0):
		wrong = "subcommands of a subcommand"
	}
	for _, s := range c.Keys {
		begins := s.Index > 0 || s.Keyword != "" && s.From != 0
		if !s.Unknown && (!begins || s.Step < 1) || strings.Contains(s.Flags, "variable_flags") != (s.Vary != nil) {
			wrong = "bad key specification"
		}
	}
	if wrong != "" {
		panic(fmt.Sprintf("command table: %s: %q", wrong, c.Full))
	}
}

// Lookup finds the command that args, at least one, call and checks their
// number. Without an error text the command is there and has a handler; with
// one, the command is there if only the number is wrong (for the statistics of
// rejected calls). A hit does not allocate.
func (t *Table) Lookup(args [][]byte) (*Row, string) {
	c := t.Find(args)
	if c == nil {
		return nil, t.unknown(args)
	}
	if !c.Takes(len(args)) {
		return c, "ERR wrong number of arguments for '" + c.Full + "' command"
	}
	return c, ""
}

// Find is lookup without the check of the number of arguments.
func (t *Table) Find(args [][]byte) *Row {
	var buf [MaxName + 1]byte
	name, ok := foldName(buf[:0], args[0])
	if !ok {
		return nil
	}
	c := t.ByName[string(name)]
	if c == nil || c.Parent != nil {
		return nil // "client|list" is no name for a client to send
	}
	if c.Subs == nil || len(args) == 1 {
		return c
	}
	if name, ok = foldName(append(name, '|'), args[1]); !ok {
		return nil
	}
	return t.ByName[string(name)]
}

// Named finds a command or subcommand by its full name in any case.
func (t *Table) Named(full []byte) *Row {
	var buf [MaxName + 1]byte
	name, ok := foldName(buf[:0], full)
	if !ok {
		return nil
	}
	return t.ByName[string(name)]
}

// foldName appends word to dst in lower case, unless no name is that long.
func foldName(dst, word []byte) ([]byte, bool) {
	if len(dst)+len(word) > MaxName {
		return nil, false
	}
	for _, c := range word {
		dst = append(dst, wire.Lower(c))
	}
	return dst, true
}

// Takes reports whether n words, the name included, are a call.
func (c *Row) Takes(n int) bool {
	if c.Arity < 0 {
		return n >= -c.Arity
	}
	return n == c.Arity
}

// unknown is the error text for a call that find did not find.
func (t *Table) unknown(args [][]byte) string {
	if len(args) > 1 {
		if c := t.Find(args[:1]); c != nil {
			return fmt.Sprintf("ERR unknown subcommand '%s'. Try %s HELP.", Shown(args[1], 128), strings.ToUpper(c.Name))
		}
	}
	var some []byte
	for _, arg := range args[1:] {
		if len(some) >= 128 {
			break
		}
		some = fmt.Appendf(some, "'%s' ", Shown(arg, 128-len(some)))
	}
	return fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s", Shown(args[0], 128), some)
}

// Shown is as much of a word as an error repeats: at most n bytes and, as in
// Redis, none from a zero byte on.
func Shown(word []byte, n int) []byte {
	word = word[:min(n, len(word))]
	if i := bytes.IndexByte(word, 0); i >= 0 {
		word = word[:i]
	}
	return word
}
