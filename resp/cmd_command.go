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

func cmdCommandHelp(x *call) {
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

// flagNames are the flags that COMMAND INFO shows, in its order.
var flagNames = []struct {
	flag cmdFlag
	name string
}{
	{flagWrite, "write"},
	{flagReadonly, "readonly"},
	{flagDenyOOM, "denyoom"},
	{flagModule, "module"},
	{flagAdmin, "admin"},
	{flagPubSub, "pubsub"},
	{flagNoScript, "noscript"},
	{flagBlocking, "blocking"},
	{flagLoading, "loading"},
	{flagStale, "stale"},
	{flagSkipMonitor, "skip_monitor"},
	{flagSkipSlowlog, "skip_slowlog"},
	{flagAsking, "asking"},
	{flagFast, "fast"},
	{flagNoAuth, "no_auth"},
	{flagMayReplicate, "may_replicate"},
	{flagNoMandatoryKeys, "no_mandatory_keys"},
	{flagNoAsyncLoading, "no_async_loading"},
	{flagNoMulti, "no_multi"},
	{flagMovableKeys, "movablekeys"},
	{flagAllowBusy, "allow_busy"},
}

// commandInfo appends the entry of COMMAND INFO for one command.
func commandInfo(r *reply, c *command) {
	r.array(10)
	r.bulkString(c.full)
	r.integer(int64(c.arity))
	var flags []string
	for _, f := range flagNames {
		if c.flags&f.flag != 0 {
			flags = append(flags, f.name)
		}
	}
	simpleSet(r, flags)
	first, last, step, _ := legacyKeys(c.keys)
	r.integer(int64(first))
	r.integer(int64(last))
	r.integer(int64(step))
	simpleSet(r, c.acl)
	r.set(len(c.tips))
	for _, tip := range c.tips {
		r.bulkString(tip)
	}
	r.set(len(c.keys))
	for i := range c.keys {
		keySpecInfo(r, &c.keys[i])
	}
	if c.subs == nil {
		r.set(0) // so does Redis, though it sends an array otherwise
		return
	}
	r.array(len(c.subs))
	for _, sub := range c.subs {
		commandInfo(r, sub)
	}
}

func keySpecInfo(r *reply, s *keySpec) {
	if s.notes == "" {
		r.dict(3)
	} else {
		r.dict(4)
		r.bulkString("notes")
		r.bulkString(s.notes)
	}
	r.bulkString("flags")
	simpleSet(r, strings.Fields(s.flags))

	type field struct {
		name  string
		value int
	}
	// step writes one of the two steps of the search.
	step := func(name, kind, text string, fields ...field) {
		r.bulkString(name)
		r.dict(2)
		r.bulkString("type")
		r.bulkString(kind)
		r.bulkString("spec")
		if text == "" {
			r.dict(len(fields))
		} else {
			r.dict(len(fields) + 1)
			r.bulkString(kind)
			r.bulkString(text)
		}
		for _, f := range fields {
			r.bulkString(f.name)
			r.integer(int64(f.value))
		}
	}
	switch {
	case s.unknown:
		step("begin_search", "unknown", "")
		step("find_keys", "unknown", "")
		return
	case s.keyword != "":
		step("begin_search", "keyword", s.keyword, field{"startfrom", s.from})
	default:
		step("begin_search", "index", "", field{"index", s.index})
	}
	if s.keynum {
		step("find_keys", "keynum", "", field{"keynumidx", s.numIdx}, field{"firstkey", s.first}, field{"keystep", s.step})
	} else {
		step("find_keys", "range", "", field{"lastkey", s.last}, field{"keystep", s.step}, field{"limit", s.limit})
	}
}

// commandDocsOf appends the map that COMMAND DOCS returns.
func commandDocsOf(r *reply, commands []*command) {
	r.dict(len(commands))
	for _, c := range commands {
		r.bulkString(c.full)
		commandDocs(r, c)
	}
}

func commandDocs(r *reply, c *command) {
	var docFlags []string
	if c.deprecatedSince != "" {
		docFlags = append(docFlags, "deprecated")
	}
	if c.flags&flagSystem != 0 {
		docFlags = append(docFlags, "syscmd")
	}
	r.dict(1 + countTrue(
		c.summary != "", c.since != "", c.complexity != "", docFlags != nil,
		c.deprecatedSince != "", c.replacedBy != "", c.history != nil, c.args != nil, c.subs != nil,
	))
	textField(r, "summary", c.summary)
	textField(r, "since", c.since)
	textField(r, "group", c.group)
	textField(r, "complexity", c.complexity)
	if docFlags != nil {
		r.bulkString("doc_flags")
		simpleSet(r, docFlags)
	}
	textField(r, "deprecated_since", c.deprecatedSince)
	textField(r, "replaced_by", c.replacedBy)
	if c.history != nil {
		r.bulkString("history")
		r.set(len(c.history))
		for _, change := range c.history {
			r.array(2)
			r.bulkString(change[0])
			r.bulkString(change[1])
		}
	}
	argumentDocs(r, c.args)
	if c.subs != nil {
		r.bulkString("subcommands")
		commandDocsOf(r, c.subs)
	}
}

// argumentDocs appends the field "arguments", unless there are none.
func argumentDocs(r *reply, args []argument) {
	if args == nil {
		return
	}
	r.bulkString("arguments")
	r.array(len(args))
	for i := range args {
		a := &args[i]
		var flags []string
		if a.optional {
			flags = append(flags, "optional")
		}
		if a.multiple {
			flags = append(flags, "multiple")
		}
		if a.multipleToken {
			flags = append(flags, "multiple_token")
		}
		hasToken := a.token != "" || a.kind == argPureToken // that of MIGRATE's empty key is empty
		r.dict(2 + countTrue(
			a.display != "", a.keySpec != 0, hasToken, a.since != "",
			a.deprecatedSince != "", flags != nil, a.args != nil,
		))
		textField(r, "name", a.name)
		textField(r, "type", string(a.kind))
		textField(r, "display_text", a.display)
		if a.keySpec != 0 {
			r.bulkString("key_spec_index")
			r.integer(int64(a.keySpec - 1))
		}
		if hasToken {
			r.bulkString("token")
			r.bulkString(a.token)
		}
		textField(r, "since", a.since)
		textField(r, "deprecated_since", a.deprecatedSince)
		if flags != nil {
			r.bulkString("flags")
			simpleSet(r, flags)
		}
		argumentDocs(r, a.args)
	}
}

// textField appends a field of a map, unless it is empty.
func textField(r *reply, name, text string) {
	if text == "" {
		return
	}
	r.bulkString(name)
	r.bulkString(text)
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
