package resp

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ringside-kv/ringside/resp/wire"
)

// maxName is the length of the longest full name that the table can hold. Names
// are folded to lower case in an array of that size on the stack.
const maxName = 32

// commandTable finds commands by name. It never changes once it is made, so any
// goroutine may use it.
type commandTable struct {
	byName map[string]*command // full names
	top    []*command          // without the subcommands
	all    []*command          // by id, subcommands after their container
}

// buildCommandTable copies the rows before it completes them: several servers
// of one process may build their tables at the same time.
func buildCommandTable(families ...[]command) *commandTable {
	t := &commandTable{byName: map[string]*command{}}
	for _, family := range families {
		for i := range family {
			t.top = append(t.top, t.add(&family[i], nil))
		}
	}
	return t
}

// add completes a copy of a row, with those of its subcommands.
func (t *commandTable) add(row, parent *command) *command {
	c := new(command)
	*c = *row
	c.full, c.parent = c.name, parent
	if c.refusal != "" {
		c.run = refused(c.refusal)
	}
	if parent != nil {
		c.full = parent.name + "|" + c.name
	}
	c.id = len(t.all)
	t.all = append(t.all, c)
	t.check(c)
	t.byName[c.full] = c

	c.keys = append([]keySpec(nil), row.keys...)
	for i := range c.keys {
		s := &c.keys[i]
		for flag := range strings.FieldsSeq(s.flags) {
			switch flag {
			case "RW", "OW", "RM":
				s.write = true
			case "not_key":
				s.notKey = true
			}
		}
	}
	if _, _, _, movable := legacyKeys(c.keys); movable {
		c.flags |= flagMovableKeys
	}
	c.acl = aclCategories(c)
	c.quick = c.flags&flagBlocking == 0 && (c.flags&flagFast != 0 || row.quick)
	c.mayWrite = c.flags&flagWrite != 0 || c.script && c.flags&flagReadonly == 0
	c.keyed = c.hasKeys() && !c.unkeyed
	c.latched = c.between || c.script
	c.forNodes = row.forNodes || c.keyed || c.spread || c.neutral || c.between || c.publishes

	c.subs = nil
	for _, sub := range row.subs {
		c.subs = append(c.subs, t.add(sub, c))
	}
	return c
}

// check panics with what is wrong with a row.
func (t *commandTable) check(c *command) {
	wrong := ""
	switch {
	case c.name == "" || c.name != strings.ToLower(c.name) || strings.ContainsAny(c.name, "| "):
		wrong = "bad name"
	case len(c.full) > maxName:
		wrong = "name too long"
	case t.byName[c.full] != nil:
		wrong = "second row"
	case c.arity == 0:
		wrong = "no arity"
	case c.run == nil && c.flags&flagContainer == 0:
		wrong = "no handler"
	case c.flags&flagContainer != 0 && (len(c.subs) == 0 || c.arity != -2):
		wrong = "container without subcommands or that needs none"
	case c.parent != nil && (c.parent.parent != nil || len(c.subs) > 0):
		wrong = "subcommands of a subcommand"
	}
	for _, s := range c.keys {
		begins := s.index > 0 || s.keyword != "" && s.from != 0
		if !s.unknown && (!begins || s.step < 1) || strings.Contains(s.flags, "variable_flags") != (s.vary != nil) {
			wrong = "bad key specification"
		}
	}
	if wrong != "" {
		panic(fmt.Sprintf("command table: %s: %q", wrong, c.full))
	}
}

// lookup finds the command that args, at least one, call and checks their
// number. Without an error text the command is there and has a handler; with
// one, the command is there if only the number is wrong (for the statistics of
// rejected calls). A hit does not allocate.
func (t *commandTable) lookup(args [][]byte) (*command, string) {
	c := t.find(args)
	if c == nil {
		return nil, t.unknown(args)
	}
	if !c.takes(len(args)) {
		return c, "ERR wrong number of arguments for '" + c.full + "' command"
	}
	return c, ""
}

// find is lookup without the check of the number of arguments.
func (t *commandTable) find(args [][]byte) *command {
	var buf [maxName + 1]byte
	name, ok := foldName(buf[:0], args[0])
	if !ok {
		return nil
	}
	c := t.byName[string(name)]
	if c == nil || c.parent != nil {
		return nil // "client|list" is no name for a client to send
	}
	if c.subs == nil || len(args) == 1 {
		return c
	}
	if name, ok = foldName(append(name, '|'), args[1]); !ok {
		return nil
	}
	return t.byName[string(name)]
}

// named finds a command or subcommand by its full name in any case.
func (t *commandTable) named(full []byte) *command {
	var buf [maxName + 1]byte
	name, ok := foldName(buf[:0], full)
	if !ok {
		return nil
	}
	return t.byName[string(name)]
}

// foldName appends word to dst in lower case, unless no name is that long.
func foldName(dst, word []byte) ([]byte, bool) {
	if len(dst)+len(word) > maxName {
		return nil, false
	}
	for _, c := range word {
		dst = append(dst, wire.Lower(c))
	}
	return dst, true
}

// takes reports whether n words, the name included, are a call.
func (c *command) takes(n int) bool {
	if c.arity < 0 {
		return n >= -c.arity
	}
	return n == c.arity
}

// unknown is the error text for a call that find did not find.
func (t *commandTable) unknown(args [][]byte) string {
	if len(args) > 1 {
		if c := t.find(args[:1]); c != nil {
			return fmt.Sprintf("ERR unknown subcommand '%s'. Try %s HELP.", shown(args[1], 128), strings.ToUpper(c.name))
		}
	}
	var some []byte
	for _, arg := range args[1:] {
		if len(some) >= 128 {
			break
		}
		some = fmt.Appendf(some, "'%s' ", shown(arg, 128-len(some)))
	}
	return fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s", shown(args[0], 128), some)
}

// shown is as much of a word as an error repeats: at most n bytes and, as in
// Redis, none from a zero byte on.
func shown(word []byte, n int) []byte {
	word = word[:min(n, len(word))]
	if i := bytes.IndexByte(word, 0); i >= 0 {
		word = word[:i]
	}
	return word
}
