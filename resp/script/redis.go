package script

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// The version that scripts are told.
const (
	Version       = "7.4.0"
	versionNumber = 7<<16 | 4<<8
)

// openRedis returns the library redis of scripts.
func (r *Runtime) openRedis(t *lua.Thread) *lua.Table {
	table := r.openFunctionAPI(t)
	t.Register(table, map[string]lua.GoFunction{
		"replicate_commands": func(t *lua.Thread) int { return push(t, lua.True) },
		"breakpoint":         func(t *lua.Thread) int { return push(t, lua.False) },
		"debug":              func(*lua.Thread) int { return 0 },
	})
	return table
}

// openFunctionAPI returns the library redis of functions.
func (r *Runtime) openFunctionAPI(t *lua.Thread) *lua.Table {
	table := t.NewTable(0, 32)
	t.Push(table.Value())
	t.Register(table, map[string]lua.GoFunction{
		"call":          func(t *lua.Thread) int { return r.command(t, true) },
		"pcall":         func(t *lua.Thread) int { return r.command(t, false) },
		"error_reply":   errorReply,
		"status_reply":  statusReply,
		"sha1hex":       sha1hex,
		"log":           r.log,
		"setresp":       r.setresp,
		"set_repl":      setRepl,
		"acl_check_cmd": r.aclCheckCmd,
	})
	setLogLevels(t, table)
	for _, flag := range []struct {
		name string
		n    float64
	}{{"REPL_NONE", 0}, {"REPL_AOF", 1}, {"REPL_SLAVE", 2}, {"REPL_REPLICA", 2}, {"REPL_ALL", 3}} {
		t.SetField(table, flag.name, lua.Number(flag.n))
	}
	setVersion(t, table)
	return table
}

func setLogLevels(t *lua.Thread, table *lua.Table) {
	for i, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		t.SetField(table, name, lua.Number(float64(i)))
	}
}

func setVersion(t *lua.Thread, table *lua.Table) {
	t.SetField(table, "REDIS_VERSION", t.String(Version))
	t.SetField(table, "REDIS_VERSION_NUM", lua.Number(versionNumber))
}

func push(t *lua.Thread, v lua.Value) int {
	t.Push(v)
	return 1
}

// single pushes a table with one field.
func single(t *lua.Thread, name, text string) int {
	table := t.NewTable(0, 1)
	t.Push(table.Value())
	t.SetField(table, name, t.String(text))
	return 1
}

// command runs a command: redis.call, which raises its error, or redis.pcall.
func (r *Runtime) command(t *lua.Thread, raiseError bool) int {
	args, refusal := r.arguments(t)
	var reply []byte
	if refusal == "" {
		var err error
		if reply, refusal, err = r.hostCall(args); err != nil {
			r.stop(t)
		}
	}
	failed := refusal != ""
	if failed {
		r.errorTable(t, refusal)
	} else if _, err := value(t, reply, 0); err != nil {
		r.errorTable(t, "ERR "+err.Error())
		failed = true
	} else if failed = reply[0] == '-'; failed {
		t.SetField(t.Top(1).Table(), countedName, lua.True)
	}
	if failed && raiseError {
		t.Throw(t.Top(1))
	}
	return 1
}

// errorTable pushes the error of a command that was not run, and counts it.
func (r *Runtime) errorTable(t *lua.Thread, msg string) {
	r.host.CountError(msg)
	single(t, "err", msg)
	t.SetField(t.Top(1).Table(), countedName, lua.True)
}

// countedName is the field of an error that was counted when the script was given it.
const countedName = "ignore_error_stats_update"

func counted(e *lua.Table) bool { return e.GetField(countedName).Truth() }

// hostCall is Host.Call. A panic of it also ends the script, whatever it has protected.
func (r *Runtime) hostCall(args [][]byte) (reply []byte, refusal string, err error) {
	returned := false
	defer func() {
		if !returned {
			r.panicked = recover()
			panic(r.panicked)
		}
	}()
	reply, refusal, err = r.host.Call(args, r.resp3)
	returned = true
	return reply, refusal, err
}

// arguments are those of a command, which are strings or numbers. The slice is valid until
// the next call.
func (r *Runtime) arguments(t *lua.Thread) (args [][]byte, refusal string) {
	n := t.NArgs()
	if n == 0 {
		return nil, "ERR Please specify at least one argument for this redis lib call"
	}
	size := 0
	for i := 1; i <= n; i++ {
		if v := t.Arg(i); v.IsString() {
			size += len(v.Text())
		} else if v.IsNumber() {
			size += 32
		} else {
			return nil, "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	t.Hold(size)
	args, b := r.args[:0], make([]byte, 0, size) // which the unit may keep until it is committed
	for i := 1; i <= n; i++ {
		at := len(b)
		if v := t.Arg(i); v.IsString() {
			b = appendText(t, b, v.Text())
		} else {
			b = argument(b, v.Float())
		}
		args = append(args, b[at:len(b):len(b)])
	}
	if cap(args) <= 1<<10 {
		r.args = args
	}
	return args, ""
}

// appendText appends a text, in parts between which the script can be stopped.
func appendText(t *lua.Thread, b []byte, text string) []byte {
	for len(text) > textPart {
		b = append(b, text[:textPart]...)
		t.Step(textPart)
		text = text[textPart:]
	}
	return append(b, text...)
}

const textPart = 1 << 20

func errorReply(t *lua.Thread) int {
	v := t.Arg(1)
	if t.NArgs() != 1 || !v.IsString() {
		return single(t, "err", "ERR wrong number or type of arguments")
	}
	msg := strings.TrimRight(strings.TrimPrefix(v.Text(), "-"), "\r\n")
	if !strings.Contains(msg, " ") { // a text without a code
		msg = "ERR " + msg
	}
	return single(t, "err", msg)
}

func statusReply(t *lua.Thread) int {
	v := t.Arg(1)
	if t.NArgs() != 1 || !v.IsString() {
		return single(t, "err", "ERR wrong number or type of arguments")
	}
	return single(t, "ok", v.Text())
}

func sha1hex(t *lua.Thread) int {
	if t.NArgs() != 1 {
		raise(t, "ERR wrong number of arguments")
	}
	text, _ := lua.ToText(t.Arg(1))
	h := sha1.New()
	for len(text) > 0 {
		n := min(len(text), 1<<20)
		_, _ = h.Write([]byte(text[:n]))
		t.Step(n)
		text = text[n:]
	}
	t.PushString(hex.EncodeToString(h.Sum(nil)))
	return 1
}

func (r *Runtime) log(t *lua.Thread) int {
	n := t.NArgs()
	if n < 2 {
		raise(t, "ERR redis.log() requires two arguments or more.")
	}
	if !t.Arg(1).IsNumber() {
		raise(t, "ERR First argument must be a number (log level).")
	}
	level := lua.Integer(t.Arg(1).Float()) // NaN, too, is out of range
	if level < 0 || level > 3 {
		raise(t, "ERR Invalid log level.")
	}
	b := t.NewBuffer()
	for i := 2; i <= n; i++ {
		if s, ok := lua.ToText(t.Arg(i)); ok {
			if b.Len() > 0 {
				b.AppendByte(' ')
			}
			b.Append(s)
		}
	}
	b.Push()
	r.host.Log(level, t.Pop().Text())
	return 0
}

func (r *Runtime) setresp(t *lua.Thread) int {
	if t.NArgs() != 1 {
		raise(t, "ERR redis.setresp() requires one argument.")
	}
	number, _ := lua.ToNumber(t.Arg(1))
	version := lua.Integer(number)
	if version != 2 && version != 3 {
		raise(t, "ERR RESP version must be 2 or 3.")
	}
	r.resp3 = version == 3
	return 0
}

// setRepl has nothing to choose: what a script writes is written on all copies.
func setRepl(t *lua.Thread) int {
	if t.NArgs() != 1 {
		raise(t, "ERR redis.set_repl() requires one argument.")
	}
	if flags, _ := lua.ToNumber(t.Arg(1)); lua.Integer(flags)&^3 != 0 {
		raise(t, "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	return 0
}

func (r *Runtime) aclCheckCmd(t *lua.Thread) int {
	args, refusal := r.arguments(t)
	if refusal != "" {
		raise(t, refusal)
	}
	known, allowed := r.host.Allows(args)
	if !known {
		raise(t, "ERR Invalid command passed to redis.acl_check_cmd()")
	}
	return push(t, lua.Bool(allowed))
}
