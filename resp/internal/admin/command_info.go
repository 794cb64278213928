package admin

import (
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// flagNames are the flags that COMMAND INFO shows, in its order.
var flagNames = []struct {
	flag command.Flag
	name string
}{

	{command.FlagWrite, "write"},
	{command.FlagReadonly, "readonly"},
	{command.FlagDenyOOM, "denyoom"},
	{command.FlagModule, "module"},
	{command.FlagAdmin, "admin"},
	{command.FlagPubSub, "pubsub"},
	{command.FlagNoScript, "noscript"},
	{command.FlagBlocking, "blocking"},
	{command.FlagLoading, "loading"},
	{command.FlagStale, "stale"},
	{command.FlagSkipMonitor, "skip_monitor"},
	{command.FlagSkipSlowlog, "skip_slowlog"},
	{command.FlagAsking, "asking"},
	{command.FlagFast, "fast"},
	{command.FlagNoAuth, "no_auth"},
	{command.FlagNoMandatoryKeys, "no_mandatory_keys"},
	{command.FlagNoAsyncLoading, "no_async_loading"},
	{command.FlagNoMulti, "no_multi"},
	{command.FlagMovableKeys, "movablekeys"},
	{command.FlagAllowBusy, "allow_busy"},
}

// commandInfo appends the entry of COMMAND INFO for one command.
func commandInfo(r *wire.Writer, c *command.Row) {
	r.Array(10)
	r.BulkString(c.Full)
	r.Int(int64(c.Arity))
	var flags []string
	for _, f := range flagNames {
		if c.Flags&f.flag != 0 {
			flags = append(flags, f.name)
		}
	}
	command.SimpleSet(r, flags)
	first, last, step, _ := command.LegacyKeys(c.Keys)
	r.Int(int64(first))
	r.Int(int64(last))
	r.Int(int64(step))
	command.SimpleSet(r, c.ACL)
	r.Set(len(c.Tips))
	for _, tip := range c.Tips {
		r.BulkString(tip)
	}
	r.Set(len(c.Keys))
	for i := range c.Keys {
		keySpecInfo(r, &c.Keys[i])
	}
	if c.Subs == nil {
		r.Set(0) // so does Redis, though it sends an array otherwise
		return
	}
	r.Array(len(c.Subs))
	for _, sub := range c.Subs {
		commandInfo(r, sub)
	}
}

func keySpecInfo(r *wire.Writer, s *command.KeySpec) {
	if s.Notes == "" {
		r.Map(3)
	} else {
		r.Map(4)
		r.BulkString("notes")
		r.BulkString(s.Notes)
	}
	r.BulkString("flags")
	command.SimpleSet(r, strings.Fields(s.Flags))

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
	case s.Unknown:
		step("begin_search", "unknown", "")
		step("find_keys", "unknown", "")
		return
	case s.Keyword != "":
		step("begin_search", "keyword", s.Keyword, field{"startfrom", s.From})
	default:
		step("begin_search", "index", "", field{"index", s.Index})
	}
	if s.Keynum {
		step("find_keys", "keynum", "", field{"keynumidx", s.NumIdx}, field{"firstkey", s.First}, field{"keystep", s.Step})
	} else {
		step("find_keys", "range", "", field{"lastkey", s.Last}, field{"keystep", s.Step}, field{"limit", s.Limit})
	}
}
