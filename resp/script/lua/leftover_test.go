package lua_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A leftoverGenerator makes programs that raise no error up to their last loop, which calls
// nil. The error names what expressions and blocks before it have left in a register.
type leftoverGenerator struct{ *rand.Rand }

// leftoverPrelude declares variables whose values take part in any operation.
const leftoverPrelude = `local m = {}
local u = setmetatable({}, m)
for _, n in pairs{"__add", "__pow", "__mul", "__unm", "__concat", "__index", "__call"} do m[n] = function() return u end end
m.__lt = function() return true end
m.__le = function() return true end
m.__newindex = function() end
A, B, C = u, u, u
local function run(...)
local l1, l2 = u, u
`

func (g leftoverGenerator) pick(s ...string) string { return s[g.IntN(len(s))] }

func (g leftoverGenerator) object() string {
	return g.pick("A", "B", "l1", "u", "(A)", "A.x", "l1.y", "A[l2]", "u[B]", "A(B)", "l1:m(A)", "(A or B)", "(u and A)")
}

func (g leftoverGenerator) expr(depth int) string {
	if depth <= 0 || g.IntN(10) == 0 {
		return g.pick("A", "B", "C", "l1", "l2", "u", "1", "'s'", "nil", "true", "false", "(A)", "(l1)")
	}
	any := func() string { return g.expr(depth - 1 - g.IntN(2)) }
	switch g.IntN(12) {
	case 0:
		return g.object() + g.pick(" + ", " .. ", " < ", " >= ", " ^ 2 * ") + g.object()
	case 1:
		return g.pick("-", "not ") + g.object()
	case 2:
		return any() + " == " + any()
	case 3, 4:
		return any() + " and " + any()
	case 5, 6:
		return any() + " or " + any()
	case 7:
		return "(" + any() + ")"
	case 8:
		return g.object() + g.pick(".k", "[A]", "[1]", "[l1]", "[A.x]", "[A + B]", "['k']", "[A < B]")
	case 9:
		return g.object() + g.pick("", ":m") + "(" + g.list(depth-1) + ")"
	case 10:
		return "{" + any() + ", k = " + any() + ", " + any() + "; [A] = " + any() + ", " + any() + "}"
	}
	return g.pick("function() return l1 end", "...", "A .. "+g.object()+" .. "+g.object())
}

func (g leftoverGenerator) list(depth int) string {
	list := make([]string, g.IntN(4))
	for i := range list {
		list[i] = g.expr(depth)
	}
	return strings.Join(list, ", ")
}

func (g leftoverGenerator) statement(depth int) string {
	if depth > 0 && g.IntN(2) == 0 {
		before := g.pick("do ", "for i = 1, 2 do ", "for i in next, {} do ", "repeat ", "if "+g.expr(2)+" then ", "while "+g.expr(1)+" do ")
		after := " end"
		switch before[0] {
		case 'r':
			after = " until true"
		case 'w':
			after = " break end"
		case 'i':
			after = g.pick(" end", " else "+g.block(depth-1)+" end")
		}
		return before + g.block(depth-1) + after
	}
	switch g.IntN(6) {
	case 0, 1:
		names := []string{"a", "b", "c", "d", "e", "f"}[:1+g.IntN(6)]
		return "local " + strings.Join(names, ", ") + " = " + g.expr(2) + ", " + g.expr(2) + g.pick("", ", "+g.expr(2))
	case 2:
		return "local a, b, c"
	case 3:
		return "l2 = " + g.expr(2)
	case 4:
		return "A.y, l2, X = " + g.expr(2) + ", " + g.expr(1)
	}
	return "A(" + g.list(2) + ")"
}

func (g leftoverGenerator) block(depth int) string {
	text := g.statement(depth)
	for g.IntN(3) > 0 {
		text += "\n" + g.statement(depth)
	}
	return text
}

func (g leftoverGenerator) program() string {
	return leftoverPrelude + g.block(2) + "\nfor k in nil, " + g.expr(1) + ", " + g.expr(2) + g.pick("", ", "+g.expr(2)) +
		" do end\nend\nout(pcall(run, u, u))"
}

func TestErrorsOfLoopsNameLeftOverValuesAsLua51(t *testing.T) {
	if _, err := exec.LookPath("lua5.1"); err != nil {
		t.Skip("lua5.1 is not installed")
	}
	batches, fresh := 2, uint64(0)
	if os.Getenv("RINGSIDE_LONG") != "" {
		batches, fresh = 80, rand.Uint64()>>20
	}
	named := 0
	for b := range batches {
		programs := make([]string, 500)
		for i := range programs {
			g := leftoverGenerator{rand.New(rand.NewPCG(fresh+uint64(b*500+i), 3))}
			programs[i] = g.program()
		}
		want, err := reference(programs)
		if err != nil || len(want) != len(programs) {
			t.Fatalf("lua5.1: %v after %d programs", err, len(want))
		}
		got, err := engine(programs)
		if err != nil || len(got) != len(programs) {
			t.Fatalf("%v after %d programs", err, len(got))
		}
		for i := range programs {
			if strings.Contains(want[i], "attempt to call") && strings.Contains(want[i], "'") {
				named++
			}
			if want[i] != got[i] {
				small := shrink(programs[i])
				want, got, _ := differs(small)
				t.Fatalf("%s\n%s", small, firstDifference(want, got))
			}
		}
	}
	if named < 20*batches {
		t.Errorf("only %d errors name a value", named)
	}
}
