package script

import (
	"errors"
	"fmt"
	"math"

	"github.com/ringside-kv/ringside/resp/script/lua"
	"github.com/ringside-kv/ringside/resp/script/luaext"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A Host carries out what a script asks for. Its methods are called by the goroutine that
// runs the script.
type Host interface {
	// Call runs a command and returns its reply, in RESP3 or RESP2, which is valid until the
	// next call. The bytes of the arguments are the host's from then on, not the slice. refusal, if not empty, is why the
	// command was not even tried. With ErrStopped the script ends there.
	Call(args [][]byte, resp3 bool) (reply []byte, refusal string, err error)
	// Log logs a message; level is 0 (debug) to 3 (warning).
	Log(level int, message string)
	// Room is how many bytes the script's reply may have.
	Room() int
	// Grow takes more bytes for the values of the script or for its reply, until the host ends the run. Where
	// needed is false, the script only runs faster with them. If they are needed and it returns false, the run
	// ends with ErrStopped.
	Grow(more int, needed bool) bool
	// CountError counts an error that the script replies or is given, unless a command that it
	// has called has replied it: those the host has counted.
	CountError(msg string)
	// Allows tells whether there is such a command, and whether the user of the script may call it.
	Allows(args [][]byte) (known, allowed bool)
}

var (
	// ErrStopped ends a script that cannot go on: it has no reply.
	ErrStopped = errors.New("script stopped")
	// ErrTooLarge: the script's reply is larger than Host.Room.
	ErrTooLarge = errors.New("reply of script is too large")
	// ErrBroken: the virtual machine has failed. What the script has done must be dropped, and
	// the Runtime must not be used again.
	ErrBroken = errors.New("the virtual machine of scripts failed")
)

// A Runtime runs scripts, one at a time. Only Stop may be called beside Run.
type Runtime struct {
	state   *lua.State
	globals *lua.Table
	json    luaext.JSONSettings
	// keysName and argvName are the names of the global variables that each run sets.
	keysName, argvName lua.Value

	// library is the one whose functions the runtime runs; nil if it runs scripts. registered are the functions,
	// callbacks has their code by their names, and loadGlobals are the globals of the library's own code,
	// which runs while loading is set.
	library     *Library
	registered  []Function
	callbacks   *lua.Table
	loadGlobals *lua.Table
	loading     bool
	ended       bool

	host  Host
	resp3 bool // how the script wants replies
	args  [][]byte
	// panicked is what Host.Call has panicked with: its own state is unknown since, so the
	// panic must not end in an error of the script.
	panicked any
}

// maxNested is how many tables within tables a reply may have.
const maxNested = 1000

// defaultMemory is how many bytes a script may take unless Begin says otherwise.
const defaultMemory = 64 << 20

// firstMemory is how many bytes of values a script may take before it asks for more, replySlice how many more
// bytes of its reply it asks for at a time.
const firstMemory, replySlice = 256 << 10, 256 << 10

// NewRuntime returns a runtime.
func NewRuntime() *Runtime {
	r := &Runtime{state: lua.NewState(defaultMemory)}
	if err := r.state.Setup(r.open); err != nil {
		panic(err) // the libraries of the host are wrong
	}
	r.state.SetGrowth(firstMemory, r.grow)
	return r
}

// grow asks the host for more memory.
func (r *Runtime) grow(more int, needed bool) error {
	if !r.host.Grow(more, needed) {
		return ErrStopped
	}
	return nil
}

// Begin prepares the next run, which may take memory bytes: it takes back earlier Stops. It
// must not be called while a script runs.
func (r *Runtime) Begin(memory int) {
	r.state.Continue()
	r.state.SetLimit(memory)
}

// Stop ends the script that runs, or else the next one: its reply says cause. It stays in
// force until Begin.
func (r *Runtime) Stop(cause error) { r.state.Stop(cause) }

// Run runs a script, and appends its reply to dst: in RESP3 or RESP2. With an error there is
// no reply.
//
// A panic of the virtual machine becomes ErrBroken: it holds no lock and shares nothing with
// other runtimes but compiled code, which it never changes. A panic of Host.Call goes on.
func (r *Runtime) Run(s *Script, keys, argv [][]byte, host Host, dst []byte, resp3 bool) (reply []byte, err error) {
	return r.run(identity{s.SHA, scriptSource}, host, dst, resp3, func() (lua.Value, bool, error) {
		return r.state.Run(r.state.Closure(s.proto), locate, func(t *lua.Thread) {
			r.json.Reset()
			t.Push(list(t, keys)) // the other one may be larger than there is memory for
			r.setLists(t, t.Top(1), list(t, argv))
		})
	})
}

// An identity is how errors name what has run: a script by its SHA-1, a function by its name; and how they
// name its code.
type identity struct{ name, source string }

const scriptSource = "user_script"

// Ended reports whether a run was ended, so that what a library has in variables may be half changed.
func (r *Runtime) Ended() bool { return r.ended }

func (r *Runtime) run(about identity, host Host, dst []byte, resp3 bool, start func() (lua.Value, bool, error)) (reply []byte, err error) {
	r.host, r.resp3 = host, false
	defer func() {
		p := recover()
		r.host = nil
		clear(r.args)
		if p == nil && r.library == nil { // a runtime that waits must not keep them
			r.setLists(r.state.Main(), lua.False, lua.False)
		}
		switch {
		case r.panicked != nil:
			panic(r.panicked)
		case p != nil:
			reply, err = dst, fmt.Errorf("%w: %v", ErrBroken, p)
		}
	}()
	v, failed, err := start()
	r.ended = r.ended || err != nil
	var ended *lua.Ended
	switch {
	case errors.Is(err, ErrStopped):
		return dst, ErrStopped
	case errors.As(err, &ended):
		msg := ended.Error()
		if errors.Is(err, lua.ErrMemory) {
			msg = "ERR " + msg
		}
		host.CountError(msg)
		return appendError(dst, fmt.Sprintf("%s script: %s, on @%s:%d.", msg, about.name, about.source, max(ended.Line, 1))), nil
	case failed:
		return appendError(dst, r.failure(v, about.name)), nil
	}
	e := replyEncoder{script3: r.resp3, client3: resp3, most: len(dst) + host.Room(), granted: len(dst) + replySlice, host: host}
	reply = e.append(dst, v, 0)
	switch {
	case e.refused:
		return dst, ErrStopped
	case len(reply) > e.most:
		return dst, ErrTooLarge
	}
	return reply, nil
}

// setLists sets the global variables KEYS and ARGV. They are always there, and never nil: so
// this inserts nothing, and a state that is to stop does not keep it from ending.
func (r *Runtime) setLists(t *lua.Thread, keys, argv lua.Value) {
	r.globals.SetReadonly(false)
	t.Set(r.globals, r.keysName, keys)
	t.Set(r.globals, r.argvName, argv)
	r.globals.SetReadonly(true)
}

// list returns a table of strings.
func list(t *lua.Thread, words [][]byte) lua.Value {
	table := t.NewTable(len(words), 0)
	t.Push(table.Value())
	for i, w := range words {
		t.PushBytes(w)
		t.SetInt(table, i+1, t.Top(1))
		t.Pop()
	}
	return t.Pop()
}

// failure is the text of an error that nothing has caught, and that locate has seen. It counts
// the error.
func (r *Runtime) failure(v lua.Value, name string) string {
	e := v.Table()
	if e == nil { // raised while another error was handled
		msg := "ERR " + r.state.Main().ToText(v)
		r.host.CountError(msg)
		return msg
	}
	msg, ok := lua.ToText(e.GetField("err"))
	if !ok {
		msg = "ERR unknown error"
	}
	if !counted(e) {
		r.host.CountError(msg)
	}
	source, ok1 := lua.ToText(e.GetField("source"))
	line, ok2 := lua.ToText(e.GetField("line"))
	if ok1 && ok2 {
		msg += fmt.Sprintf(" script: %s, on %s:%s.", name, source, line)
	}
	return msg
}

// locate makes of an error a table that also says where it was raised, as Redis' handler of
// errors does.
func locate(t *lua.Thread, raised lua.Value) lua.Value { return locateFrom(t, raised, 0) }

func locateFrom(t *lua.Thread, raised lua.Value, level int) lua.Value {
	e := raised.Table()
	if e == nil {
		e = t.NewTable(0, 3)
		t.Push(e.Value())
		defer t.Pop()
		t.SetField(e, "err", t.String("ERR "+t.ToText(raised)))
	}
	source, line, exists := t.Where(level)
	if source == "=[C]" {
		source, line, exists = t.Where(level + 1)
	}
	if exists {
		t.SetField(e, "source", t.String(source))
		t.SetField(e, "line", lua.Number(float64(line)))
	}
	return e.Value()
}

// raise ends the script, or what it has protected, with an error that is not about a place
// in it.
func raise(t *lua.Thread, msg string) {
	e := t.NewTable(0, 3)
	t.Push(e.Value())
	t.SetField(e, "err", t.String(msg))
	t.Throw(e.Value())
}

// stop ends the script, whatever it has protected.
func (r *Runtime) stop(t *lua.Thread) {
	r.state.Stop(ErrStopped)
	t.Step(0)
}

// argument formats a number as a command's argument: as in replies, but for the sign of zero.
func argument(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, lua.FormatPrecise(f, 17)...)
	case f == 0:
		return append(b, '0')
	}
	return wire.AppendFloat(b, f)
}
