package resp

import (
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/glob"
	"github.com/ringside-kv/ringside/resp/wire"
)

// cmdCommand is COMMAND alone.
func cmdCommand(x *call) {
	x.Array(len(x.srv.table.top))
	for _, c := range x.srv.table.top {
		commandInfo(x.Writer, c)
	}
}

func cmdCommandCount(x *call) { x.Int(int64(len(x.srv.table.top))) }

func cmdCommandInfo(x *call) {
	if len(x.args) == 2 {
		cmdCommand(x)
		return
	}
	x.Array(len(x.args) - 2)
	for _, name := range x.args[2:] {
		if c := x.srv.table.named(name); c != nil {
			commandInfo(x.Writer, c)
		} else {
			x.Null()
		}
	}
}

func cmdCommandDocs(x *call) {
	wanted := x.srv.table.top
	if len(x.args) > 2 {
		wanted = nil
		for _, name := range x.args[2:] {
			if c := x.srv.table.named(name); c != nil {
				wanted = append(wanted, c)
			}
		}
	}
	commandDocsOf(x.Writer, wanted)
}

func cmdCommandList(x *call) {
	passes := func(*command) bool { return true }
	switch {
	case len(x.args) == 2:
	case len(x.args) == 5 && wire.EqualFold(x.args[2], "filterby"):
		value := x.args[4]
		switch kind := x.args[3]; {
		case wire.EqualFold(kind, "module"):
			passes = func(*command) bool { return false } // there are no modules
		case wire.EqualFold(kind, "aclcat"):
			passes = func(c *command) bool { return c.inCategory(value) }
		case wire.EqualFold(kind, "pattern"):
			passes = func(c *command) bool { return glob.Match(value, []byte(c.full), true) }
		default:
			x.Error("ERR syntax error")
			return
		}
	default:
		x.Error("ERR syntax error")
		return
	}
	var names []string
	for _, c := range x.srv.table.all {
		if passes(c) {
			names = append(names, c.full)
		}
	}
	x.Array(len(names))
	for _, name := range names {
		x.BulkString(name)
	}
}

// inCategory looks for an ACL category, given without its @.
func (c *command) inCategory(category []byte) bool {
	for _, name := range c.acl {
		if wire.EqualFold(category, name[1:]) {
			return true
		}
	}
	return false
}

func cmdCommandGetkeys(x *call) { commandKeys(x, false) }

func cmdCommandGetkeysandflags(x *call) { commandKeys(x, true) }

func commandKeys(x *call, withFlags bool) {
	args := x.args[2:]
	c := x.srv.table.find(args)
	switch {
	case c == nil:
		x.Error("ERR Invalid command specified")
		return
	case !c.hasKeys():
		x.Error("ERR The command has no key arguments")
		return
	case !c.takes(len(args)):
		x.Error("ERR Invalid number of arguments specified for command")
		return
	}
	keys, err := c.keysOf(args, nil)
	if err != nil || len(keys) == 0 && c.flags&flagNoMandatoryKeys == 0 {
		x.Error("ERR Invalid arguments specified for command")
		return
	}
	x.Array(len(keys))
	for _, key := range keys {
		if withFlags {
			x.Array(2)
		}
		x.Bulk(args[key.pos])
		if withFlags {
			simpleSet(x.Writer, strings.Fields(c.keyFlags(key, args)))
		}
	}
}

func cmdCommandHelp(x *Call) {
	help(x, "COMMAND",
		"(no subcommand)",
		"    Describe every command.",
		"COUNT",
		"    Count the commands.",
		"DOCS [<command-name> ...]",
		"    Document these commands, or all of them.",
		"GETKEYS <command> [<arg> ...]",
		"    Pick the keys out of a command line.",
		"GETKEYSANDFLAGS <command> [<arg> ...]",
		"    Pick out the keys and tell what would be done with each.",
		"INFO [<command-name> ...]",
		"    Describe these commands, or all of them.",
		"LIST [FILTERBY MODULE <name> | ACLCAT <category> | PATTERN <pattern>]",
		"    List the names of commands.",
	)
}
