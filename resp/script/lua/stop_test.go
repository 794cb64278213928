package lua

import (
	"errors"
	"testing"
)

// longCalls return a function of a library, or of a chunk, and arguments that let it run for long.
var longCalls = []struct{ name, source string }{
	{"Find", `return string.find, string.rep("a", 3000), string.rep(".-", 10) .. "b"`},
	{"FindWithStars", `return string.find, string.rep("a", 3000), string.rep("a*", 10) .. "b"`},
	{"FindInLongText", `return string.find, string.rep("a", 1e7), "b", 1, true`},
	{"FindBalanced", `return string.find, string.rep("(", 1e6), "%b()"`},
	{"FindRest", `return string.find, string.rep("a", 1e6), ".-b"`},
	{"Gmatch", `return string.gmatch(string.rep("a ", 1e5), "%d+")`},
	{"Gsub", `return string.gsub, string.rep("a", 1e6), "a", "b"`},
	{"GsubQuadratic", `return string.gsub, string.rep("a", 1e6), "a*b", ""`},
	{"Rep", `return string.rep, "x", 3e7`},
	{"Upper", `return string.upper, string.rep("x", 3e7)`},
	{"Reverse", `return string.reverse, string.rep("x", 2e7)`},
	{"Sort", `local t = {} for i = 1, 3e5 do t[i] = i % 1000 end return table.sort, t`},
	{"Concat", `local t = {} for i = 1, 1e6 do t[i] = "x" end return table.concat, t`},
	{"Insert", `local t = {} for i = 1, 1e6 do t[i] = i end return table.insert, t, 1, 1`},
	{"Remove", `local t = {} for i = 1, 1e6 do t[i] = i end return table.remove, t, 1`},
	{"Maxn", `local t = {} for i = 1, 1e6 do t[i] = i end return table.maxn, t`},
	{"LoadString", `return loadstring, string.rep("x = 1 ", 1e4)`},
	{"Format", `return string.format, "%s %q", string.rep("x", 1e7), string.rep("x", 1e7)`},
	{"Collect", `local keep = {} for i = 1, 2e5 do keep[i] = {} end return collectgarbage`},
}

func TestStopEndsLongCalls(t *testing.T) {
	stop := errors.New("stopped")
	for _, test := range longCalls {
		t.Run(test.name, func(t *testing.T) {
			s := NewState(256 << 20)
			err := s.Setup(func(l *Thread) {
				OpenBase(l, s.Globals())
				l.SetField(s.Globals(), "string", OpenString(l).Value())
				l.SetField(s.Globals(), "table", OpenTable(l).Value())
				p, err := Compile(test.source, "=test")
				if err != nil {
					t.Fatal(err)
				}
				l.Push(s.Closure(p))
				n := l.Call(0, -1)
				s.Stop(stop)
				slot := l.top - n // the function itself: Call would look for a stop before it
				l.callGo(l.stack[slot].function(), slot, n-1, -1)
				t.Error("the call has returned")
			})
			if !errors.Is(err, stop) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}
