package admin

import (
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/glob"
	"github.com/ringside-kv/ringside/resp/wire"
)

// cmdCommand is COMMAND alone.
func cmdCommand(x *call) {
	x.Array(len(x.srv.Table.Top))
	for _, c := range x.srv.Table.Top {
		commandInfo(x.Writer, c)
	}
}

func cmdCommandCount(x *call) { x.Int(int64(len(x.srv.Table.Top))) }

func cmdCommandInfo(x *call) {
	if len(x.Args) == 2 {
		cmdCommand(x)
		return
	}
	x.Array(len(x.Args) - 2)
	for _, name := range x.Args[2:] {
		if c := x.srv.Table.Named(name); c != nil {
			commandInfo(x.Writer, c)
		} else {
			x.Null()
		}
	}
}

func cmdCommandDocs(x *call) {
	wanted := x.srv.Table.Top
	if len(x.Args) > 2 {
		wanted = nil
		for _, name := range x.Args[2:] {
			if c := x.srv.Table.Named(name); c != nil {
				wanted = append(wanted, c)
			}
		}
	}
	command.DocsOf(x.Writer, wanted)
}

func cmdCommandList(x *call) {
	passes := func(*command.Row) bool { return true }
	switch {
	case len(x.Args) == 2:
	case len(x.Args) == 5 && wire.EqualFold(x.Args[2], "filterby"):
		value := x.Args[4]
		switch kind := x.Args[3]; {
		case wire.EqualFold(kind, "module"):
			passes = func(*command.Row) bool { return false } // there are no modules
		case wire.EqualFold(kind, "aclcat"):
			passes = func(c *command.Row) bool { return inCategory(c, value) }
		case wire.EqualFold(kind, "pattern"):
			passes = func(c *command.Row) bool { return glob.Match(value, []byte(c.Full), true) }
		default:
			x.Error("ERR syntax error")
			return
		}
	default:
		x.Error("ERR syntax error")
		return
	}
	var names []string
	for _, c := range x.srv.Table.All {
		if passes(c) {
			names = append(names, c.Full)
		}
	}
	x.Array(len(names))
	for _, name := range names {
		x.BulkString(name)
	}
}

// inCategory looks for an ACL category, given without its @.
func inCategory(c *command.Row, category []byte) bool {
	for _, name := range c.ACL {
		if wire.EqualFold(category, name[1:]) {
			return true
		}
	}
	return false
}

func cmdCommandGetkeys(x *call) { commandKeys(x, false) }

func cmdCommandGetkeysandflags(x *call) { commandKeys(x, true) }

func commandKeys(x *call, withFlags bool) {
	args := x.Args[2:]
	c := x.srv.Table.Find(args)
	switch {
	case c == nil:
		x.Error("ERR Invalid command specified")
		return
	case !c.HasKeys():
		x.Error("ERR The command has no key arguments")
		return
	case !c.Takes(len(args)):
		x.Error("ERR Invalid number of arguments specified for command")
		return
	}
	keys, err := c.KeysOf(args, nil)
	if err != nil || len(keys) == 0 && c.Flags&command.FlagNoMandatoryKeys == 0 {
		x.Error("ERR Invalid arguments specified for command")
		return
	}
	x.Array(len(keys))
	for _, key := range keys {
		if withFlags {
			x.Array(2)
		}
		x.Bulk(args[key.Pos])
		if withFlags {
			command.SimpleSet(x.Writer, strings.Fields(c.KeyFlags(key, args)))
		}
	}
}

func cmdCommandHelp(x *command.Call) {
	command.Help(x, "COMMAND",
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
