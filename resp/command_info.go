package resp

import (
	"strings"

	"github.com/ringside-kv/ringside/resp/wire"
)

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
func commandInfo(r *wire.Writer, c *command) {
	r.Array(10)
	r.BulkString(c.full)
	r.Int(int64(c.arity))
	var flags []string
	for _, f := range flagNames {
		if c.flags&f.flag != 0 {
			flags = append(flags, f.name)
		}
	}
	simpleSet(r, flags)
	first, last, step, _ := legacyKeys(c.keys)
	r.Int(int64(first))
	r.Int(int64(last))
	r.Int(int64(step))
	simpleSet(r, c.acl)
	r.Set(len(c.tips))
	for _, tip := range c.tips {
		r.BulkString(tip)
	}
	r.Set(len(c.keys))
	for i := range c.keys {
		keySpecInfo(r, &c.keys[i])
	}
	if c.subs == nil {
		r.Set(0) // so does Redis, though it sends an array otherwise
		return
	}
	r.Array(len(c.subs))
	for _, sub := range c.subs {
		commandInfo(r, sub)
	}
}

func keySpecInfo(r *wire.Writer, s *keySpec) {
	if s.notes == "" {
		r.Map(3)
	} else {
		r.Map(4)
		r.BulkString("notes")
		r.BulkString(s.notes)
	}
	r.BulkString("flags")
	simpleSet(r, strings.Fields(s.flags))

	type field struct {
		name  string
		value int
	}
	// step writes one of the two steps of the search.
	step := func(name, kind, text string, fields ...field) {
		r.BulkString(name)
		r.Map(2)
		r.BulkString("type")
		r.BulkString(kind)
		r.BulkString("spec")
		if text == "" {
			r.Map(len(fields))
		} else {
			r.Map(len(fields) + 1)
			r.BulkString(kind)
			r.BulkString(text)
		}
		for _, f := range fields {
			r.BulkString(f.name)
			r.Int(int64(f.value))
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
