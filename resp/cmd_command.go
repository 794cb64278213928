package resp

import "strings"

// cmdCommand is COMMAND alone.
func cmdCommand(x *call) {
	x.array(len(x.srv.table.top))
	for _, c := range x.srv.table.top {
		commandInfo(x.reply, c)
	}
}

func cmdCommandCount(x *call) { x.integer(int64(len(x.srv.table.top))) }

func cmdCommandInfo(x *call) {
	if len(x.args) == 2 {
		cmdCommand(x)
		return
	}
	x.array(len(x.args) - 2)
	for _, name := range x.args[2:] {
		if c := x.srv.table.named(name); c != nil {
			commandInfo(x.reply, c)
		} else {
			x.null()
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
	commandDocsOf(x.reply, wanted)
}

func cmdCommandList(x *call) {
	passes := func(*command) bool { return true }
	switch {
	case len(x.args) == 2:
	case len(x.args) == 5 && equalFold(x.args[2], "filterby"):
		value := x.args[4]
		switch kind := x.args[3]; {
		case equalFold(kind, "module"):
			passes = func(*command) bool { return false } // there are no modules
		case equalFold(kind, "aclcat"):
			passes = func(c *command) bool { return c.inCategory(value) }
		case equalFold(kind, "pattern"):
			passes = func(c *command) bool { return globMatch(value, []byte(c.full), true) }
		default:
			x.err("ERR syntax error")
			return
		}
	default:
		x.err("ERR syntax error")
		return
	}
	var names []string
	for _, c := range x.srv.table.all {
		if passes(c) {
			names = append(names, c.full)
		}
	}
	x.array(len(names))
	for _, name := range names {
		x.bulkString(name)
	}
}

// inCategory looks for an ACL category, given without its @.
func (c *command) inCategory(category []byte) bool {
	for _, name := range c.acl {
		if equalFold(category, name[1:]) {
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
		x.err("ERR Invalid command specified")
		return
	case !c.hasKeys():
		x.err("ERR The command has no key arguments")
		return
	case !c.takes(len(args)):
		x.err("ERR Invalid number of arguments specified for command")
		return
	}
	keys, err := c.keysOf(args, nil)
	if err != nil || len(keys) == 0 && c.flags&flagNoMandatoryKeys == 0 {
		x.err("ERR Invalid arguments specified for command")
		return
	}
	x.array(len(keys))
	for _, key := range keys {
		if withFlags {
			x.array(2)
		}
		x.bulk(args[key.pos])
		if withFlags {
			simpleSet(x.reply, strings.Fields(c.keyFlags(key, args)))
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

// simpleSet appends a set of simple strings.
func simpleSet(r *reply, words []string) {
	r.set(len(words))
	for _, word := range words {
		r.simple(word)
	}
}

func countTrue(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}
