package script

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// A Host carries out what a script asks for. Its methods are called by the goroutine that
// runs the script.
type Host interface {
	// Call runs a command and returns its reply, in RESP3 or RESP2, which is valid until the
	// next call. refusal, if not empty, is why the command was not even tried. With
	// ErrStopped the script ends there.
	Call(args [][]byte, resp3 bool) (reply []byte, refusal string, err error)
	// Log logs a message; level is 0 (debug) to 3 (warning).
	Log(level int, message string)
	// Room is how many bytes the script's reply may have.
	Room() int
	// Known tells whether there is such a command.
	Known(args [][]byte) bool
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

// A Runtime runs scripts, one at a time.
type Runtime struct {
	l       *lua.LState
	globals *lua.LTable // what scripts see as _G, and cannot change
	own     *lua.LTable // what is in it
	// protected are the tables that scripts cannot change, with what is in them.
	protected map[*lua.LTable]*lua.LTable
	onError   *lua.LFunction
	random    drand48

	host    Host
	ctx     context.Context
	cancel  context.CancelFunc
	stopped bool
	resp3   bool // how the script wants replies
	args    [][]byte
	encoder jsonSettings
	// panicked is what Host.Call has panicked with: its own state is unknown since, so the
	// panic must not end in an error of the script.
	panicked any
	// maxBuilt is how many bytes a text may have that a library makes of a value: maxRepeat but
	// in tests.
	maxBuilt int
}

const (
	stackFrames = 8000    // calls within calls
	stackValues = 1 << 10 // of them at first
	stackMost   = 1 << 20
	maxNested   = 1000     // tables within tables, in a reply
	maxRepeat   = 64 << 20 // bytes of string.rep
	maxUnpacked = 8000     // values that unpack returns, as in Redis
)

// NewRuntime returns a runtime. Close must be called.
func NewRuntime() *Runtime {
	r := &Runtime{protected: make(map[*lua.LTable]*lua.LTable), encoder: defaultJSON(), maxBuilt: maxRepeat}
	r.l = lua.NewState(lua.Options{
		SkipOpenLibs: true, CallStackSize: stackFrames, MinimizeStackMemory: true,
		RegistrySize: stackValues, RegistryMaxSize: stackMost, RegistryGrowStep: 1 << 16,
	})
	r.random.seed(rand.Uint32())
	r.open()
	r.onError = r.l.NewFunction(locate)
	return r
}

// Close frees the runtime.
func (r *Runtime) Close() { r.l.Close() }

// Run runs a script, and appends its reply to dst: in RESP3 or RESP2. The script ends when
// ctx does, with the reply that cause says. With an error there is no reply.
//
// A panic of the virtual machine becomes ErrBroken: it holds no lock and shares nothing with
// other runtimes but compiled code, which it never changes. A panic of Host.Call goes on.
func (r *Runtime) Run(ctx context.Context, s *Script, keys, argv [][]byte, host Host, dst []byte, resp3 bool) (reply []byte, err error) {
	defer func() {
		p := recover()
		switch {
		case r.panicked != nil:
			panic(r.panicked)
		case p != nil:
			reply, err = dst, fmt.Errorf("%w: %v", ErrBroken, p)
		}
	}()
	r.host, r.resp3, r.stopped = host, false, false
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.encoder = defaultJSON()
	r.own.RawSetString("KEYS", r.list(keys))
	r.own.RawSetString("ARGV", r.list(argv))
	r.l.SetContext(r.ctx)
	defer func() {
		r.cancel()
		r.l.RemoveContext()
		r.l.SetTop(0)
		r.host, r.ctx, r.cancel = nil, nil, nil
		clear(r.args)
		r.own.RawSetString("KEYS", lua.LNil)
		r.own.RawSetString("ARGV", lua.LNil)
	}()
	fn := r.l.NewFunctionFromProto(s.proto)
	r.l.Push(fn)
	err = r.l.PCall(0, 1, r.onError)
	switch {
	case r.stopped:
		return dst, ErrStopped
	case ctx.Err() != nil:
		return appendError(dst, fmt.Sprintf("%s script: %s, on @user_script:1.", context.Cause(ctx), s.SHA)), nil
	case err != nil:
		return appendError(dst, r.failure(err, s)), nil
	}
	value := r.l.Get(-1)
	e := replyEncoder{script3: r.resp3, client3: resp3, most: len(dst) + host.Room()}
	reply = e.append(dst, value, 0)
	if len(reply) > e.most {
		return dst, ErrTooLarge
	}
	return reply, nil
}

// list returns a table of strings.
func (r *Runtime) list(words [][]byte) *lua.LTable {
	t := r.l.CreateTable(len(words), 0)
	for _, w := range words {
		t.Append(lua.LString(w))
	}
	return t
}

// failure is the text of an error that nothing has caught.
func (r *Runtime) failure(err error, s *Script) string {
	var e *lua.ApiError
	if !errors.As(err, &e) {
		return "ERR " + err.Error()
	}
	t, ok := e.Object.(*lua.LTable)
	if !ok {
		return "ERR " + text(e.Object) + " script: " + s.SHA + ", on @user_script:1."
	}
	msg, ok := t.RawGetString("err").(lua.LString)
	if !ok {
		msg = "ERR unknown error"
	}
	where := ""
	if line, ok := t.RawGetString("line").(lua.LNumber); ok {
		where = fmt.Sprintf(" script: %s, on %s:%d.", s.SHA, t.RawGetString("source"), int(line))
	}
	return string(msg) + where
}

// locate makes of an error a table that also says where it was raised, as Redis' handler of
// errors does.
func locate(l *lua.LState) int {
	raised := inWords(l.Get(1))
	t, ok := raised.(*lua.LTable)
	if !ok {
		t = l.NewTable()
		t.RawSetString("err", lua.LString("ERR "+text(raised)))
	}
	for level := 1; ; level++ {
		at, ok := l.GetStack(level)
		if !ok {
			break
		}
		if _, err := l.GetInfo("Sl", at, lua.LNil); err != nil {
			break
		}
		if at.CurrentLine > 0 {
			t.RawSetString("source", lua.LString(sourceOf(at.Source)))
			t.RawSetString("line", lua.LNumber(at.CurrentLine))
			break
		}
	}
	l.Push(t)
	return 1
}

// sourceOf is the name of a piece of code as Lua's debug library has it.
func sourceOf(name string) string {
	if code, ok := strings.CutPrefix(name, `[string "`); ok {
		return strings.TrimSuffix(code, `"]`)
	}
	return "@" + name
}

// badArgument is how an error about an argument begins, but for the quotes that Lua puts
// around the function's name.
var badArgument = regexp.MustCompile(`(bad argument #\d+ to )([^ ']+) \(`)

// inWords is an error as Lua words it.
func inWords(v lua.LValue) lua.LValue {
	if s, ok := v.(lua.LString); ok && strings.Contains(string(s), "bad argument #") {
		return lua.LString(badArgument.ReplaceAllString(string(s), "$1'$2' ("))
	}
	return v
}

// raise ends the script, or what it has protected, with an error that is not about a place
// in it.
func (r *Runtime) raise(msg string) {
	t := r.l.NewTable()
	t.RawSetString("err", lua.LString(msg))
	r.l.Error(t, 0)
}

// stop ends the script, whatever it has protected.
func (r *Runtime) stop() {
	r.stopped = true
	r.cancel()
	r.raise("ERR stopped")
}
