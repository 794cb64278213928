package resp

import "strings"

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
