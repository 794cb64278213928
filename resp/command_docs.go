package resp

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
