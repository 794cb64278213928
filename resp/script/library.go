package script

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// A Library is the compiled code of a library of functions. It never changes, so any goroutine may use it.
type Library struct {
	// Functions are those that the code registers, in the order in which it does.
	Functions []Function
	proto     *lua.Proto
	size      int
}

// A Function is what a library says of one of its functions.
type Function struct {
	Name string
	// Description is nil if there is none.
	Description *string
	Flags       Flags
}

// MsgName is the error of a name that no library or function may have.
const MsgName = "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long"

// IsName reports whether a library or a function may have a name.
func IsName(name string) bool {
	for _, c := range []byte(name) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && c != '_' && (c < 'a' || c > 'z') {
			return false
		}
	}
	return name != ""
}

var errLoadTimeout = errors.New("FUNCTION LOAD timeout")

// functionSource is how errors name the code of a library.
const functionSource = "user_function"

// NewLibrary compiles the code of a library, without the line that it begins with, and runs it to learn which
// functions it registers. The code may take memory bytes and run for so long; with 0 there is no end. log logs a
// message as [Host] does. The error is what Redis replies.
func NewLibrary(code string, memory int, within time.Duration, log func(level int, message string)) (*Library, error) {
	if len(code) > MaxBody {
		return nil, fmt.Errorf("ERR the library is longer than %d bytes", MaxBody)
	}
	proto, err := lua.Compile(code, "@"+functionSource)
	if err != nil {
		return nil, fmt.Errorf("ERR Error compiling function: %w", err)
	}
	l := &Library{proto: proto, size: len(code) + proto.Bytes()}
	r, err := l.runtime(memory, within, loadHost{log: log})
	if err != nil {
		return nil, err
	}
	if l.Functions = r.registered; len(l.Functions) == 0 {
		return nil, errors.New("ERR No functions registered")
	}
	return l, nil
}

// Size returns about how much memory the library takes, in bytes.
func (l *Library) Size() int { return l.size }

// NewRuntime returns a runtime for the functions of a library, in which its code has run.
//
// What functions leave in local variables of the library stays there for later runs in the same runtime. grow is
// [Host].Grow for the code that runs now; nil: there is memory.
func (l *Library) NewRuntime(memory int, log func(level int, message string), grow func(more int, needed bool) bool) (*Runtime, error) {
	return l.runtime(memory, 0, loadHost{log: log, grow: grow})
}

func (l *Library) runtime(memory int, within time.Duration, host loadHost) (*Runtime, error) {
	r := &Runtime{state: lua.NewState(defaultMemory), library: l}
	if err := r.state.Setup(r.openLibrary); err != nil {
		panic(err) // the libraries of the host are wrong
	}
	r.state.Keeps()
	r.state.SetGrowth(firstMemory, r.grow)
	r.Begin(memory)
	r.host, r.loading = host, true
	if within > 0 {
		defer time.AfterFunc(within, func() { r.Stop(errLoadTimeout) }).Stop()
	}
	v, failed, err := r.load(l.proto)
	r.host, r.loading = nil, false
	r.state.SetGlobals(r.globals)
	if err == nil && !failed {
		return r, nil
	}
	msg := ""
	switch text, isText := lua.ToText(v); {
	case err != nil:
		msg = "ERR " + err.Error()
	case isText:
		msg = "ERR " + text
	case v.Table() != nil:
		msg, _ = lua.ToText(v.Table().GetField("err"))
	}
	if msg == "" {
		msg = "ERR unknown error"
	}
	return nil, fmt.Errorf("ERR Error registering functions: %s", msg)
}

// load runs the code of a library, which registers its functions.
func (r *Runtime) load(proto *lua.Proto) (v lua.Value, failed bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrBroken, p)
		}
	}()
	v, failed, err = r.state.Run(r.state.Closure(proto), nil, func(*lua.Thread) {})
	var ended *lua.Ended
	if errors.As(err, &ended) {
		err = errors.New(ended.Error())
	}
	return v, failed, err
}

// A loadHost is the host of a library that is loaded: it can log, and call nothing.
type loadHost struct {
	Host
	log  func(level int, message string)
	grow func(more int, needed bool) bool
}

func (h loadHost) Grow(more int, needed bool) bool { return h.grow == nil || h.grow(more, needed) }

func (h loadHost) Log(level int, message string) { h.log(level, message) }

// openLibrary makes the environment of a library: that of its functions, and a smaller one for its code.
func (r *Runtime) openLibrary(t *lua.Thread) {
	r.openLibraries(t, r.openFunctionAPI)
	r.callbacks = r.state.Registry()
	r.loadGlobals = t.NewTable(0, 1)
	t.SetField(r.callbacks, " functions", r.globals.Value()) // no function has such a name
	t.SetField(r.callbacks, " load", r.loadGlobals.Value())
	api := t.NewTable(0, 8)
	t.SetField(r.loadGlobals, "redis", api.Value())
	t.Register(api, map[string]lua.GoFunction{"register_function": r.registerFunction, "log": r.log})
	setLogLevels(t, api)
	setVersion(t, api)
	r.strict(t, api)
	r.strict(t, r.loadGlobals)
	r.state.SetGlobals(r.loadGlobals)
}

// Call runs a function of the runtime's library as [Runtime.Run] runs a script. It gets keys and argv as
// arguments.
func (r *Runtime) Call(f *Function, keys, argv [][]byte, host Host, dst []byte, resp3 bool) (reply []byte, err error) {
	about := identity{f.Name, functionSource}
	return r.run(about, host, dst, resp3, func() (lua.Value, bool, error) {
		return r.state.Call(r.callbacks.GetField(f.Name), locate, func(t *lua.Thread) []lua.Value {
			r.json.Reset()
			t.Push(list(t, keys)) // the other one may be larger than there is memory for
			return []lua.Value{t.Top(1), list(t, argv)}
		})
	})
}

// registerFunction is redis.register_function.
func (r *Runtime) registerFunction(t *lua.Thread) int {
	if !r.loading {
		raise(t, "ERR redis.register_function can only be called on FUNCTION LOAD command")
	}
	var f Function
	var callback lua.Value
	msg := ""
	switch n := t.NArgs(); {
	case n == 1 && !t.Arg(1).IsTable():
		msg = "calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments)."
	case n == 1:
		f, callback, msg = namedFunction(t.Arg(1).Table())
	case n == 2 && !isText(t.Arg(1)):
		msg = "first argument to redis.register_function must be a string"
	case n == 2 && t.Arg(2).Kind() != lua.KindFunction:
		msg = "second argument to redis.register_function must be a function"
	case n == 2:
		f.Name, _ = lua.ToText(t.Arg(1))
		callback = t.Arg(2)
	default:
		msg = "wrong number of arguments to redis.register_function"
	}
	if msg == "" && !IsName(f.Name) {
		msg = MsgName
	}
	for i := range r.registered {
		// A call finds a function whatever the case of its name.
		if msg == "" && strings.EqualFold(r.registered[i].Name, f.Name) {
			msg = "Function already exists in the library"
		}
	}
	if msg != "" {
		raise(t, "ERR "+msg)
	}
	r.registered = append(r.registered, f)
	t.SetField(r.callbacks, f.Name, callback)
	return 0
}

// isText reports whether C takes a value as a string.
func isText(v lua.Value) bool { return v.IsString() || v.IsNumber() }

// namedFunction reads the named arguments of redis.register_function. msg is what is wrong with them.
func namedFunction(args *lua.Table) (f Function, callback lua.Value, msg string) {
	named := false
	each(args, func(key, value lua.Value) {
		if msg != "" {
			return
		}
		name, _ := lua.ToText(key)
		text, isText := lua.ToText(value)
		switch name = strings.ToLower(name); {
		case name == "":
			msg = "named argument key given to redis.register_function is not a string"
		case name == "function_name" && !isText, name == "description" && !isText:
			msg = name + " argument given to redis.register_function must be a string"
		case name == "function_name":
			f.Name, named = text, true
		case name == "description":
			f.Description = &text
		case name == "callback" && value.Kind() != lua.KindFunction:
			msg = "callback argument given to redis.register_function must be a function"
		case name == "callback":
			callback = value
		case name == "flags" && !value.IsTable():
			msg = "flags argument to redis.register_function must be a table representing function flags"
		case name == "flags":
			if !readFlags(value.Table(), &f.Flags) {
				msg = "unknown flag given"
			}
		default:
			msg = "unknown argument given to redis.register_function"
		}
	})
	switch {
	case msg != "":
	case !named:
		msg = "redis.register_function must get a function name argument"
	case callback.IsNil():
		msg = "redis.register_function must get a callback argument"
	}
	return f, callback, msg
}

// readFlags adds the flags that a list names. It returns false if there is no such flag.
func readFlags(names *lua.Table, flags *Flags) bool {
	for i := 1; ; i++ {
		v := names.GetInt(i)
		if v.IsNil() {
			return true
		}
		name, _ := lua.ToText(v)
		flag, ok := flagNamed(strings.ToLower(name))
		if !ok {
			return false
		}
		*flags |= flag
	}
}
