package script

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// What scripts call Redis by.

// The version that scripts are told.
const (
	Version       = "7.0.15"
	versionNumber = 7<<16 | 15
)

func (r *Runtime) openRedis() {
	t := r.l.NewTable()
	r.own.RawSetString("redis", t)
	for name, f := range map[string]lua.LGFunction{
		"call":               func(l *lua.LState) int { return r.command(l, true) },
		"pcall":              func(l *lua.LState) int { return r.command(l, false) },
		"error_reply":        func(l *lua.LState) int { return r.single(l, "err") },
		"status_reply":       func(l *lua.LState) int { return r.single(l, "ok") },
		"sha1hex":            r.sha1hex,
		"log":                r.log,
		"setresp":            r.setresp,
		"set_repl":           r.setRepl,
		"replicate_commands": func(l *lua.LState) int { return push(l, lua.LTrue) },
		"breakpoint":         func(l *lua.LState) int { return push(l, lua.LFalse) },
		"debug":              func(*lua.LState) int { return 0 },
		"acl_check_cmd":      r.aclCheckCmd,
	} {
		t.RawSetString(name, r.l.NewFunction(f))
	}
	for i, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		t.RawSetString(name, lua.LNumber(i))
	}
	for name, n := range map[string]int{"REPL_NONE": 0, "REPL_AOF": 1, "REPL_SLAVE": 2, "REPL_REPLICA": 2, "REPL_ALL": 3} {
		t.RawSetString(name, lua.LNumber(n))
	}
	t.RawSetString("REDIS_VERSION", lua.LString(Version))
	t.RawSetString("REDIS_VERSION_NUM", lua.LNumber(versionNumber))
}

func push(l *lua.LState, v lua.LValue) int {
	l.Push(v)
	return 1
}

// command runs a command: redis.call, which raises its error, or redis.pcall.
func (r *Runtime) command(l *lua.LState, raise bool) int {
	refuse := func(msg string) int {
		t := l.NewTable()
		t.RawSetString("err", lua.LString(msg))
		if raise {
			l.Error(t, 0)
		}
		return push(l, t)
	}
	args, msg := r.arguments(l)
	if msg != "" {
		return refuse(msg)
	}
	reply, refusal, err := r.hostCall(args)
	switch {
	case err != nil:
		r.stop()
	case refusal != "":
		return refuse(refusal)
	}
	v, _, err := r.value(reply, 0)
	if err != nil {
		return refuse("ERR " + err.Error())
	}
	if t, ok := v.(*lua.LTable); ok && raise && reply[0] == '-' {
		l.Error(t, 0)
	}
	return push(l, v)
}

// hostCall is Host.Call. A panic of it also ends the script, whatever it has protected.
func (r *Runtime) hostCall(args [][]byte) (reply []byte, refusal string, err error) {
	returned := false
	defer func() {
		if !returned {
			r.panicked = recover()
			r.cancel()
			panic(r.panicked)
		}
	}()
	reply, refusal, err = r.host.Call(args, r.resp3)
	returned = true
	return reply, refusal, err
}

// arguments are those of a command, which are strings or numbers.
func (r *Runtime) arguments(l *lua.LState) ([][]byte, string) {
	n := l.GetTop()
	if n == 0 {
		return nil, "ERR Please specify at least one argument for this redis lib call"
	}
	args := r.args[:0]
	for i := 1; i <= n; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			args = append(args, []byte(v))
		case lua.LNumber:
			args = append(args, []byte(formatNumber(float64(v), 17)))
		default:
			return nil, "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	if cap(args) <= 1<<10 {
		r.args = args
	}
	return args, ""
}

// single is redis.error_reply or redis.status_reply.
func (r *Runtime) single(l *lua.LState, field string) int {
	s, ok := l.Get(1).(lua.LString)
	t := l.NewTable()
	switch {
	case l.GetTop() != 1 || !ok:
		t.RawSetString("err", lua.LString("ERR wrong number or type of arguments"))
	case field == "err":
		msg := strings.TrimRight(strings.TrimPrefix(string(s), "-"), "\r\n")
		if !strings.Contains(msg, " ") { // a text without a code
			msg = "ERR " + msg
		}
		t.RawSetString("err", lua.LString(msg))
	default:
		t.RawSetString(field, s)
	}
	return push(l, t)
}

func (r *Runtime) sha1hex(l *lua.LState) int {
	if l.GetTop() != 1 {
		r.raise("ERR wrong number of arguments")
	}
	sum := sha1.Sum([]byte(text(l.Get(1))))
	return push(l, lua.LString(hex.EncodeToString(sum[:])))
}

func (r *Runtime) log(l *lua.LState) int {
	n := l.GetTop()
	if n < 2 {
		r.raise("ERR redis.log() requires two arguments or more.")
	}
	level, ok := l.Get(1).(lua.LNumber)
	switch {
	case !ok:
		r.raise("ERR First argument must be a number (log level).")
	case level < 0 || level > 3:
		r.raise("ERR Invalid debug level.")
	}
	var words []string
	for i := 2; i <= n; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString, lua.LNumber:
			words = append(words, text(v))
		}
	}
	r.host.Log(int(level), strings.Join(words, " "))
	return 0
}

func (r *Runtime) setresp(l *lua.LState) int {
	if l.GetTop() != 1 {
		r.raise("ERR redis.setresp() requires one argument.")
	}
	version := int(l.ToNumber(1))
	if version != 2 && version != 3 {
		r.raise("ERR RESP version must be 2 or 3.")
	}
	r.resp3 = version == 3
	return 0
}

// setRepl has nothing to choose: what a script writes is written on all copies.
func (r *Runtime) setRepl(l *lua.LState) int {
	if l.GetTop() != 1 {
		r.raise("ERR redis.set_repl() requires two arguments.")
	}
	if n := int(l.ToNumber(1)); n&^3 != 0 {
		r.raise("ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	return 0
}

func (r *Runtime) aclCheckCmd(l *lua.LState) int {
	args, msg := r.arguments(l)
	if msg != "" {
		r.raise(msg)
	}
	if !r.host.Known(args) {
		r.raise("ERR Invalid command passed to redis.acl_check_cmd()")
	}
	return push(l, lua.LTrue)
}

// itoa shows a number in an error.
func itoa(n int) string { return strconv.Itoa(n) }
