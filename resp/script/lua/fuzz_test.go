package lua_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// addPrograms seeds a fuzzer.
func addPrograms(f *testing.F) {
	f.Add("return 1")
	f.Add("x = 'a\\\n\\65\\x' --[==[ c ]==] .. [[\r\n]] y = 0x1p4 .. 1e5 ..")
	f.Add("for i = 1, 2 do local a <b> = function(...) return ... end goto x end ::x::")
	for seed := range uint64(40) {
		f.Add(program(seed))
	}
	for _, p := range speedPrograms {
		f.Add(p.source)
	}
}

// FuzzCompile compiles any text, which must either succeed or fail with a *lua.SyntaxError.
func FuzzCompile(f *testing.F) {
	addPrograms(f)
	f.Fuzz(func(t *testing.T, source string) {
		_, err := lua.Compile(source, "=fuzz")
		var syntax *lua.SyntaxError
		if err != nil && !errors.As(err, &syntax) {
			t.Fatalf("an error of the type %T: %v", err, err)
		}
	})
}

// FuzzRun runs any program that can be compiled, with little memory and for a short time. The
// state must be usable afterwards.
func FuzzRun(f *testing.F) {
	addPrograms(f)
	f.Add(driver)
	f.Fuzz(func(t *testing.T, source string) {
		p, err := lua.Compile(source, "=fuzz")
		if err != nil {
			return
		}
		s := newState(8 << 20)
		timer := time.AfterFunc(100*time.Millisecond, func() { s.Stop(errors.New("stopped")) })
		defer timer.Stop()
		s.Run(s.Closure(p), nil, func(*lua.Thread) {})
		timer.Stop()
		s.Continue()
		v, failed, err := s.Run(s.Closure(compile("return 1 + 1")), nil, func(*lua.Thread) {})
		if failed || err != nil || v.Float() != 2 {
			t.Fatalf("afterwards: %q, %t, %v", s.Main().ToText(v), failed, err)
		}
	})
}
