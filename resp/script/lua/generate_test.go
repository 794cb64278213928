package lua_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator writes random programs. They end soon: each loop and function begins with
// tick(), which raises an error after some thousand calls, and strings that are assigned to
// longer-lived variables are cut. A program shows what it computes with out.
type generator struct {
	*rand.Rand
	text    strings.Builder
	scopes  [][]variable // of the function at hand and those around it
	loops   int          // around the statement, in its function
	varargs []bool       // whether "..." can be used, by function
	depth   int
}

type variable struct {
	name string
	kind byte // as in expr
}

// kinds of expressions: number, string, boolean, table, function, any.
const kinds = "nsbtfa"

func generate(seed uint64) string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), scopes: [][]variable{{}}, varargs: []bool{true}}
	if g.chance(15) {
		g.line("setmetatable(_G, {__index = function(t, k) error('undefined ' .. tostring(k), 2) end, __newindex = %s})",
			g.pick("nil", "function(t, k, v) error('new ' .. k, 2) end", "rawset"))
	}
	for range 3 + g.IntN(8) {
		if g.chance(60) {
			g.statement()
			continue
		}
		g.scoped(func() {
			g.line("out(pcall(function(...)")
			g.statement()
			g.line("out(%s)", g.list("a"))
			g.line("end, %s))", g.list("a"))
		})
	}
	if g.IntN(2) == 0 {
		g.line("return %s", g.list("a"))
	}
	return g.text.String()
}

func (g *generator) pick(s ...string) string { return s[g.IntN(len(s))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// soft separates tokens: by a space, mostly.
func (g *generator) soft() string {
	if g.chance(3) {
		return g.pick("\n", "\n", " --x\n", "--[[ y\n]]", "\t")
	}
	return " "
}

func (g *generator) line(format string, args ...any) {
	fmt.Fprintf(&g.text, format, args...)
	if g.chance(90) {
		g.text.WriteByte('\n')
	} else {
		g.text.WriteByte(' ')
		if g.chance(30) {
			g.text.WriteString("; ")
		}
	}
}

func (g *generator) scoped(body func()) {
	old := g.scopes[len(g.scopes)-1]
	g.depth++
	body()
	g.depth--
	g.scopes[len(g.scopes)-1] = old
}

func (g *generator) block(n int) {
	g.scoped(func() {
		for range n {
			g.statement()
		}
		switch {
		case g.loops > 0 && g.chance(15):
			g.line("break")
		case g.chance(4):
			g.line("return %s", g.list("a"))
		}
	})
}

func (g *generator) declare(name string, kind byte) {
	s := &g.scopes[len(g.scopes)-1]
	*s = append((*s)[:len(*s):len(*s)], variable{name, kind})
}

func (g *generator) name() string {
	return g.pick("a", "b", "c", "d", "i", "j", "k", "x", "y", "t", "s", "f", "self", "_")
}

func (g *generator) global() string { return g.pick("G", "H", "x", "t", "undefined") }

// variable returns a variable, most likely one of a kind.
func (g *generator) variable(kind byte) string {
	var all, fit []string
	for _, scope := range g.scopes {
		for _, v := range scope {
			all = append(all, v.name)
			if v.kind == kind || kind == 'a' {
				fit = append(fit, v.name)
			}
		}
	}
	switch {
	case len(fit) > 0 && g.chance(90):
		return g.pick(fit...)
	case len(all) > 0 && g.chance(40):
		return g.pick(all...)
	}
	return g.global()
}

func (g *generator) kind() byte { return kinds[g.IntN(len(kinds))] }

var numbers = []string{
	"0", "1", "2", "3", "-1", "10", "0.5", "1e15", "2^53", "9007199254740993", "-0", "0x10", "0xffffffff", "1/0", "-1/0",
	"1e300", "1e-300", "3.14159265358979", "100", "7", "-2.5", "1e100", ".5", "5.", "123456789012345", "4294967296", "1e14",
}

var texts = []string{
	`"abc"`, `""`, `"10"`, `" 5 "`, `"0x1F"`, `'x'`, `"key"`, `"1e1"`, `"-0"`, `"a,b,,c"`, `[[long]]`, `"hello world"`,
	`"\0z"`, `"\n\t\65"`, `"nan"`, `"inf"`, `"12abc"`, `[==[
]]]==]`, `"%d"`, `"\\"`, `"ÄÖ"`, `"1."`, `"."`, `"1e"`, `"n"`, `"a longer text, which is hashed in steps and not whole"`,
}

var fields = []string{"x", "y", "n", "key", "next", "f", "a1"}

func (g *generator) field() string { return fields[g.IntN(len(fields))] }

// key is an expression that may be a key of a table whose order is shown.
func (g *generator) key() string {
	switch g.IntN(8) {
	case 0:
		return g.pick(texts...)
	case 1:
		return g.pick(numbers...)
	case 2:
		return g.pick("true", "false")
	case 3, 4:
		return `"` + g.field() + `"`
	case 5:
		return "N(" + g.expr('n') + ")"
	case 6:
		return fmt.Sprintf(`"k%d"`, g.IntN(40))
	}
	return fmt.Sprint(g.IntN(24) - 2)
}

// expr returns an expression, most likely of a kind.
func (g *generator) expr(kind byte) string {
	if g.chance(5) {
		kind = g.kind()
	}
	if kind == 'a' {
		kind = g.kind()
	}
	g.depth++
	defer func() { g.depth-- }()
	simple := g.depth > 6 || g.chance(45)
	if !simple {
		switch g.IntN(20) {
		case 0:
			return "(" + g.expr(kind) + ")"
		case 1:
			return g.expr(kind) + g.soft() + "or" + g.soft() + g.expr(kind)
		case 2:
			return g.expr('b') + g.soft() + "and" + g.soft() + g.expr(kind)
		case 3:
			return g.expr('b') + " and " + g.expr(kind) + " or " + g.expr(kind)
		case 4:
			return g.call(kind)
		case 5:
			return g.prefix('t') + g.index()
		}
	}
	switch kind {
	case 'n':
		return g.number(simple)
	case 's':
		return g.string(simple)
	case 'b':
		return g.boolean(simple)
	case 't':
		return g.table(simple)
	case 'f':
		return g.function(simple)
	}
	return g.variable('a')
}

func (g *generator) number(simple bool) string {
	if simple {
		if g.chance(50) {
			return g.variable('n')
		}
		return g.pick(numbers...)
	}
	switch g.IntN(12) {
	case 0:
		return "-" + g.soft() + g.expr('n')
	case 1:
		return "#" + g.prefix(g.pick("t", "s")[0])
	case 2:
		return g.vararg("select('#', ...)", "1")
	case 3:
		return "tonumber(" + g.list("s") + ")"
	case 4:
		return g.pick("math.floor", "math.abs", "math.ceil", "math.sqrt") + "(" + g.expr('n') + ")"
	case 5:
		return g.pick("math.max", "math.min", "math.fmod") + "(" + g.list("nn") + ")"
	case 6:
		return g.expr('s') + g.soft() + g.pick("+", "-", "*") + g.soft() + g.expr('n')
	}
	return g.expr('n') + g.soft() + g.pick("+", "-", "*", "/", "%", "^", "+", "-") + g.soft() + g.expr('n')
}

func (g *generator) string(simple bool) string {
	if simple {
		if g.chance(40) {
			return g.variable('s')
		}
		return g.pick(texts...)
	}
	switch g.IntN(14) {
	case 0, 1, 2, 3:
		return "cut(" + g.expr('s') + ")" + g.soft() + ".." + g.soft() + g.expr(g.pick("s", "n", "s", "s")[0])
	case 4:
		return "tostring(" + g.expr('a') + ")"
	case 5:
		return g.pick("type(", "show(") + g.expr('a') + ")"
	case 6:
		return "string." + g.pick("upper", "lower", "reverse", "len") + "(" + g.expr('s') + ")"
	case 7:
		return fmt.Sprintf("%s:sub(%s)", g.prefix('s'), g.list("nn"))
	case 8:
		return fmt.Sprintf("string.rep(%s, %d)", g.expr('s'), g.IntN(7)-1)
	case 9:
		return fmt.Sprintf("string.format(%s, %s)", g.format(), g.list("sna"))
	case 10:
		return fmt.Sprintf("string.gsub(%s, %s, %s)", g.expr('s'), g.pattern(), g.pick(`"<%0>"`, `"%1"`, `""`, `"%%"`, g.expr('t'),
			g.expr('f'), `"%2"`, `function(...) out(...) end`))
	case 11:
		return fmt.Sprintf("string.%s(%s, %s%s)", g.pick("find", "match"), g.expr('s'), g.pattern(), g.pick("", ", 2", ", -3", ", 1, true"))
	case 12:
		return fmt.Sprintf("table.concat(%s)", g.list("tsnn"))
	}
	return fmt.Sprintf("string.char(string.byte(%s))", g.list("snn"))
}

func (g *generator) format() string {
	return `"` + g.pick("%d", "%s", "%5.2f", "%q", "%x", "%g", "%-5s|", "%05d", "%c", "%i %s", "%%", "%e", "%10.3s|", "%+d", "%#x", "%o %u",
		"%.3s", "% d", "%s %s %s", "%y", "%", "%.20f", "%.200f", "%G") + `"`
}

func (g *generator) pattern() string {
	return `"` + g.pick("a", "%w+", "(%w)(%w)", ".", ".-", "^%s*(.-)%s*$", "[a-c]", "[^%s,]*", "%d+", "()", "(a*(.)%w(%s*))", "%b()", "%f[%w]%w+",
		"x*", "l+", "(l)%1", "[]", "[%a-z]+", "%", "(", ")", "[^]]", "%z", "a-b", "$", "^", "o$", "%1", "[%", "(()") + `"`
}

func (g *generator) boolean(simple bool) string {
	if simple {
		return g.pick("true", "false", "nil", g.variable('b'), g.variable('a'))
	}
	switch g.IntN(8) {
	case 0:
		return "not" + g.soft() + g.expr('a')
	case 1:
		return g.expr('a') + g.soft() + g.pick("==", "~=") + g.soft() + g.expr('a')
	case 2:
		return "rawequal(" + g.list("aa") + ")"
	case 3:
		return g.expr('s') + g.soft() + g.pick("==", "~=", "<", ">", "<=", ">=") + g.soft() + g.expr('s')
	case 4:
		return g.expr('a') + g.soft() + g.pick("<", ">", "<=", ">=") + g.soft() + g.expr('a')
	}
	return g.expr('n') + g.soft() + g.pick("==", "~=", "<", ">", "<=", ">=") + g.soft() + g.expr('n')
}

func (g *generator) table(simple bool) string {
	if simple && g.chance(60) {
		return g.variable('t')
	}
	var b strings.Builder
	b.WriteString("{")
	n := g.IntN(6)
	if g.chance(5) {
		n = g.IntN(70)
	}
	for i := range n {
		switch g.IntN(6) {
		case 0:
			b.WriteString(g.field() + " = " + g.expr('a'))
		case 1:
			b.WriteString("[" + g.key() + "] = " + g.expr('a'))
		default:
			b.WriteString(g.value(n))
		}
		if i < n-1 || g.chance(10) {
			b.WriteString(g.pick(",", ",", ",", ";") + g.soft())
		}
	}
	if n > 0 && g.chance(10) {
		b.WriteString(g.pick("", "", ",") + g.vararg("...", "f()"))
		return strings.Replace(b.String(), ",,", ",", 1) + "}"
	}
	b.WriteString("}")
	if g.chance(15) {
		return "setmetatable(" + b.String() + ", " + g.metatable() + ")"
	}
	return b.String()
}

// value is a cheap expression in a table of n.
func (g *generator) value(n int) string {
	if n > 10 {
		return g.pick("nil", "1", "2", "x", `"v"`)
	}
	return g.expr('a')
}

func (g *generator) metatable() string {
	var b strings.Builder
	b.WriteString("{")
	for range 1 + g.IntN(3) {
		name := g.pick("__index", "__newindex", "__call", "__eq", "__lt", "__le", "__concat", "__len", "__unm", "__add", "__sub", "__mul",
			"__div", "__mod", "__pow", "__tostring", "__metatable", "__mode", "__gc")
		value := g.pick("mt."+name, "mt."+name, g.expr('f'), g.expr('a'))
		if strings.HasSuffix(name, "index") && g.chance(40) {
			value = g.expr('t')
		}
		b.WriteString(name + " = " + value + ", ")
	}
	return b.String() + "}"
}

// vararg returns one text where varargs can be used, else the other.
func (g *generator) vararg(yes, no string) string {
	if g.varargs[len(g.varargs)-1] {
		return yes
	}
	return no
}

// body writes parameters and body of a function, up to its end.
func (g *generator) body() {
	loops := g.loops
	g.loops = 0
	g.scopes = append(g.scopes, nil)
	var params []string
	for range g.IntN(4) {
		p := g.name()
		params = append(params, p)
		g.declare(p, 'a')
	}
	dots := g.chance(25)
	if dots {
		params = append(params, "...")
		if g.chance(10) {
			g.declare("arg", 't')
		}
	}
	g.varargs = append(g.varargs, dots)
	g.line("(%s) tick()", strings.Join(params, ", "))
	if g.depth < 6 {
		for range g.IntN(3) {
			g.statement()
		}
	}
	switch g.IntN(6) {
	case 0:
	case 1:
		g.line("return %s", g.call('a'))
	default:
		g.line("return %s", g.list(g.pick("a", "n", "aa", "")))
	}
	g.varargs = g.varargs[:len(g.varargs)-1]
	g.scopes = g.scopes[:len(g.scopes)-1]
	g.loops = loops
}

// inner returns what write adds to the text, without adding it.
func (g *generator) inner(write func()) string {
	saved := g.text
	g.text = strings.Builder{}
	write()
	s := g.text.String()
	g.text = saved
	return s
}

func (g *generator) function(simple bool) string {
	if simple && g.chance(50) {
		return g.pick(g.variable('f'), "tostring", "type", "type", "next", "pcall", "error", "rawget", "select", "setmetatable", "out", "unpack")
	}
	g.depth++
	defer func() { g.depth-- }()
	return "function" + g.inner(g.body) + "end"
}

// list returns expressions of kinds, and perhaps fewer or more.
func (g *generator) list(kinds string) string {
	var list []string
	for _, k := range kinds {
		list = append(list, g.expr(byte(k)))
	}
	switch g.IntN(12) {
	case 0:
		list = append(list, g.vararg("...", "f(1)"))
	case 1:
		list = append(list, g.expr('a'))
	case 2:
		list = list[:len(list)/2]
	}
	return strings.Join(list, ","+g.soft())
}

// prefix returns an expression that can be called or indexed.
func (g *generator) prefix(kind byte) string {
	switch g.IntN(5) {
	case 0:
		return "(" + g.expr(kind) + ")"
	case 1:
		return g.variable(kind) + g.index()
	}
	return g.variable(kind)
}

func (g *generator) index() string {
	switch g.IntN(4) {
	case 0:
		return "[" + g.expr('n') + "]"
	case 1:
		return "[" + g.expr('a') + "]"
	}
	return g.soft() + "." + g.soft() + g.field()
}

func (g *generator) call(kind byte) string {
	switch g.IntN(14) {
	case 0:
		return g.prefix('t') + ":" + g.field() + "(" + g.list("a") + ")"
	case 1:
		return g.prefix('s') + ":" + g.pick("upper", "sub", "len", "rep", "find", "nothing") + "(" + g.pick("", "1", "2, 3") + ")"
	case 2:
		return g.pick("pcall", "pcall", "pcall", "assert", "tostring", "rawget", "next", "type", "getmetatable", "setmetatable", "rawset",
			"tonumber", "ipairs", "pairs", "rawequal", "loadstring", "coroutine.status", "coroutine.resume", "coroutine.wrap",
			"coroutine.create", "coroutine.yield", "coroutine.running", "unpack", "table.maxn", "table.getn", "xpcall") +
			"(" + g.list("ta"[:g.IntN(3)]) + ")"
	case 3:
		return "pcall(" + g.list("fa") + ")"
	case 4:
		return fmt.Sprintf("xpcall(%s, %s)", g.expr('f'), g.pick("show", "function(e) return 'h', e end", "function(e) error(e) end", g.expr('f')))
	case 5:
		return fmt.Sprintf("select(%s, %s)", g.pick("1", "2", "-1", "'#'", "0", g.expr('n')), g.list("aaa"))
	case 6:
		return fmt.Sprintf("unpack(%s%s)", g.expr('t'), g.pick("", "", ", 2", ", 1, 3", ", -1, 1", ", 3, 2"))
	case 7:
		return fmt.Sprintf("tonumber(%s, %s)", g.expr('s'), g.pick("10", "16", "2", "36", "1", g.expr('n')))
	case 8:
		return g.prefix('f') + g.pick(g.pick(texts...), g.table(false))
	}
	return g.prefix('f') + "(" + g.list("aa") + ")"
}

func (g *generator) target() string {
	if g.chance(60) {
		return g.variable('a')
	}
	if g.chance(50) {
		return g.prefix('t') + "[" + g.key() + "]"
	}
	return g.prefix('t') + "." + g.field()
}

func (g *generator) statement() {
	if g.depth > 5 {
		g.line("out(%s)", g.list("a"))
		return
	}
	g.depth++
	defer func() { g.depth-- }()
	switch g.IntN(30) {
	case 0, 1, 2, 3, 4, 5:
		g.local()
	case 6, 7:
		g.line("%s = keep(%s)", g.target(), g.expr('a'))
	case 8, 9:
		n := 1 + g.IntN(4)
		var targets []string
		for range n {
			targets = append(targets, g.target())
		}
		g.line("%s%s=%skeep(%s)", strings.Join(targets, ", "), g.soft(), g.soft(), g.list(strings.Repeat("a", n)))
	case 10:
		g.line("if %s then", g.expr('b'))
		g.block(g.IntN(3))
		if g.chance(30) {
			g.line("elseif %s then", g.expr('b'))
			g.block(g.IntN(2))
		}
		if g.chance(40) {
			g.line("else")
			g.block(g.IntN(2))
		}
		g.line("end")
	case 11, 12, 13:
		g.loop()
	case 14:
		g.line("do")
		g.block(1 + g.IntN(3))
		g.line("end")
	case 15, 16:
		g.functions()
	case 17, 18:
		g.line("do local _ = %s end", g.call('a'))
	case 19:
		if s := g.call('a'); s[0] != '(' {
			g.line("%s;", s)
		}
	case 20, 21:
		g.line("out(pcall(function%send%s))", g.inner(g.body), g.pick("", ", 1", ", ..."[:g.IntN(2)*5]))
	case 22:
		g.raise()
	case 23, 24:
		g.coroutine()
	case 25:
		g.closures()
	case 26:
		g.traversal()
	case 27:
		g.recursion()
	case 28:
		g.line("out(loadstring(%q, '=l'))", g.inner(func() { g.line("return %s", g.expr('a')) }))
	default:
		g.line("out(%s)", g.list("aa"))
	}
}

func (g *generator) local() {
	n := 1
	if g.chance(25) {
		n += g.IntN(3)
	}
	var names, values []string
	var all []byte
	for range n {
		k := g.kind()
		names, all, values = append(names, g.name()), append(all, k), append(values, g.expr(k))
	}
	switch g.IntN(10) {
	case 0:
		g.line("local %s", strings.Join(names, ", "))
	case 1:
		g.line("local %s = %s", strings.Join(names, ", "), g.list("a"))
	default:
		g.line("local %s =%s%s", strings.Join(names, ","+g.soft()), g.soft(), strings.Join(values, ", "))
	}
	for i, name := range names {
		g.declare(name, all[i])
	}
}

func (g *generator) loop() {
	old := g.scopes[len(g.scopes)-1]
	name := g.name()
	g.loops++
	switch g.IntN(8) {
	case 0, 1:
		step := g.pick("", "", ", 2", ", -1", ", 0.5", ", 0", ", "+g.expr('n'))
		g.line("for %s = %s, %s%s do tick()", name, g.pick("1", "3", "-2", g.expr('n')), g.pick("1", "4", "5", "0", g.expr('n')), step)
		g.declare(name, 'n')
		g.block(1 + g.IntN(3))
		g.line("end")
	case 2, 3:
		value := g.name()
		g.line("for %s, %s in %s(%s) do tick()", name, value, g.pick("pairs", "ipairs"), g.expr('t'))
		g.declare(name, 'a')
		g.declare(value, 'a')
		g.block(1 + g.IntN(3))
		g.line("end")
	case 4:
		g.line("for %s in %s do tick()", name, g.pick(g.list("fta"), "next, "+g.expr('t'), "coroutine.wrap(function() coroutine.yield(1) coroutine.yield(2) end)",
			"string.gmatch("+g.expr('s')+", "+g.pattern()+")"))
		g.declare(name, 'a')
		g.block(1 + g.IntN(3))
		g.line("end")
	case 5, 6:
		g.line("local %s = 0 while %s do tick()", name, g.pick(name+" < 3", name+" < 4 and "+g.expr('b'), g.expr('b'), name+" ~= 2"))
		g.declare(name, 'n')
		g.line("%s = %s + 1", name, name)
		g.block(1 + g.IntN(3))
		g.line("end")
	default:
		g.line("repeat tick()")
		g.scoped(func() {
			g.local()
			g.statement()
			if g.chance(50) {
				g.line("G = function() return %s end", g.list("aa"))
			}
			g.line("until %s", g.expr('b'))
		})
	}
	g.loops--
	if g.chance(80) {
		g.scopes[len(g.scopes)-1] = old
	}
}

func (g *generator) functions() {
	switch g.IntN(4) {
	case 0:
		g.line("%s = function%send", g.global(), g.inner(g.body))
	case 1:
		g.line("function %s%s%send", g.variable('t'), g.pick(".", ":")+g.field(), g.inner(g.body))
	default:
		name := g.name()
		g.declare(name, 'f')
		g.line("local function %s%send", name, g.inner(g.body))
	}
}

func (g *generator) raise() {
	value := g.expr(g.pick("s", "s", "a", "t")[0])
	raise := fmt.Sprintf("error(%s%s)", value, g.pick("", ", 0", ", 1", ", 2", ", 3", ", 4", ", nil"))
	switch g.IntN(5) {
	case 0:
		g.line("%s", raise)
	case 1:
		g.line("local function f(...) tick()\n %s end", raise)
		g.line("local function b(...)\n tick() %sf(...) end", g.pick("", "return ", "local x = "))
		g.line("out(pcall(%s, 1))", g.pick("b", "f", "function(...) b(...) end", "function(...)\n return b(...) end"))
		g.declare("f", 'f')
		g.declare("b", 'f')
	case 2:
		g.line("out(pcall(%s))", g.list("faa"))
	case 3:
		g.line("out(xpcall(function()\n %s end, function(e) tick() return %s end))", raise, g.pick("e", "'h'..e", "error(e)", "show(e)", g.expr('a')))
	default:
		g.line("out(pcall(error%s))", g.pick("", ", {}", ", 'm'", ", 'm', 2", ", nil", ", 12"))
	}
}

func (g *generator) coroutine() {
	body := g.inner(func() {
		g.scopes = append(g.scopes, nil)
		g.varargs = append(g.varargs, true)
		loops := g.loops
		g.loops = 0
		g.line("(...) tick()")
		for range 1 + g.IntN(4) {
			switch g.IntN(6) {
			case 0, 1, 2:
				g.line("out('in', coroutine.yield(%s))", g.list("a"))
			case 3:
				g.line("out(pcall(function() tick() coroutine.yield(1) end))")
			case 4:
				g.line("for i = 1, 2 do coroutine.yield(i%s) end", g.pick("", ", ..."))
			default:
				g.statement()
			}
		}
		g.line("%s", g.pick("return 1, 2", "", "error('e')", "return coroutine.yield(3)", "error({})", "local x = nil + 1"))
		g.loops = loops
		g.varargs = g.varargs[:len(g.varargs)-1]
		g.scopes = g.scopes[:len(g.scopes)-1]
	})
	if g.chance(50) {
		g.line("local c = coroutine.create(function%send)", body)
		for range 1 + g.IntN(5) {
			g.line("out(coroutine.resume(c%s)) out(coroutine.status(c))", g.pick("", ", 1", ", 'r', nil"))
		}
		g.declare("c", 'a')
		return
	}
	g.line("local c = coroutine.wrap(function%send)", body)
	for range 1 + g.IntN(5) {
		g.line("out(%sc%s)", g.pick("", "", "pcall, "), g.pick("(1)", "()", "")+"")
		g.line("out(pcall(c%s))", g.pick("", ", 1", ", 2, 3"))
	}
	g.declare("c", 'f')
}

// closures makes functions that share locals of loops, and calls them.
func (g *generator) closures() {
	if g.chance(25) {
		g.line("do local f = nil")
		g.line("out(pcall(function(x, ...) local y = x f = function() x = x + 1 y = y + x return x, y end %s end, 5, %s))",
			g.pick("error('e')", "return x, ...", "return f()", "error(f)", "return out(f())", "local z = {} .. 1"), g.list("aa"))
		g.line("for i = 1, 2 do out(pcall(f)) end end")
		return
	}
	leave := g.pick("", "if i == 2 then break end", "if x == 3 then break end", "do local z = i; l[#l+1] = function() z = z + i return z end end")
	make := g.pick("local x = i * 2; l[#l+1] = function() x = x + 1; i = i + 1 return x, i end",
		"local x = i; l[#l+1] = function() x = x + 1 return x end l[#l+1] = function() return x, i end",
		"local function x() tick() return i end l[#l+1] = x",
		"local x, y = i; if i % 2 == 0 then local x = x + 10 l[#l+1] = function() x = x + 1 return x end else l[#l+1] = function() y = (y or 0) + x return y end end")
	head, tail := g.pick("for i = 1, 4 do", "local i = 0 while i < 4 do i = i + 1", "for i in pairs{1, 2, 3} do", "for i = 3, 1, -1 do"), "end"
	if g.chance(30) {
		head, tail = "local i = 0 repeat i = i + 1", "until i > 3 or x == 8"
	}
	g.line("do local l = {}")
	g.line("%s\n %s\n %s\n %s", head, make, leave, tail)
	g.line("for _ = 1, 2 do for n = 1, #l do out(n, l[n]()) end end end")
}

// traversal fills and empties a table and shows its order and border.
func (g *generator) traversal() {
	g.line("do local t = %s", g.pick("{}", g.table(false), "{1, 2, 3, nil, 5, nil}", "{n = 1, 1, 2, x = 3}", "{nil, nil, 3}"))
	for range 1 + g.IntN(12) {
		if key := g.key(); g.chance(75) {
			g.line("t[%s] = %s", key, g.pick("1", "2", "true", "'v'", "nil"))
		} else {
			g.line("t[%s] = nil", key)
		}
	}
	if g.chance(40) {
		g.line("for i = %d, %d do t[i] = %s end", g.IntN(5), g.IntN(40), g.pick("i", "nil", "i % 3 == 0 and i or nil", "t[i - 1]"))
	}
	if g.chance(30) {
		g.line("for i = %d, %d, -1 do t[i] = i end", g.IntN(40), g.IntN(4))
	}
	if g.chance(30) {
		g.line("for i = 1, %d do t['k' .. i] = i end", g.IntN(40))
	}
	if g.chance(20) {
		g.line("table.%s", g.pick("insert(t, 5)", "insert(t, 1, 'i')", "remove(t)", "remove(t, 1)", "insert(t, 2, 3)", "remove(t, 3)", "sort(t)", "insert(t, 9, 1)",
			"sort(t, function(a, b) return a > b end)", "sort(t, function() return true end)", "foreach(t, out)", "foreachi(t, out)", "setn(t, 3)"))
	}
	switch g.IntN(3) {
	case 0:
		g.line("for k, v in pairs(t) do out(k, v) %s end", g.pick("", "t[k] = nil", "t[k] = 1", "if k ~= 1 then t[k] = nil end"))
	case 1:
		g.line("out(next(t)) out(next(t, 'key')) out(pcall(next, t, 'nokey'))")
	}
	g.line("out(t, %s) end", g.pick("0", "#t", "table.maxn(t)", "unpack(t)", "#t, table.getn(t)"))
}

func (g *generator) recursion() {
	name := g.name()
	g.scoped(func() {
		g.declare(name, 'f')
		g.line("local function %s(n, ...) tick()", name)
		g.varargs, g.scopes = append(g.varargs, true), append(g.scopes, []variable{{"n", 'n'}})
		loops := g.loops
		g.loops = 0
		g.line("if n <= 0 then return %s end", g.list("a"))
		g.line("return %s end", g.pick(name+"(n - 1, ...)", "1 + "+name+"(n - 1)", "n, "+name+"(n - 1, n, ...)", "("+name+"(n - 1, n))",
			name+"(n - 1) .. n", name+"(n - 1), "+name+"(n - 2)", "pcall("+name+", n - 1, n)", "select(2, "+name+"(n - 1))"))
		g.varargs, g.scopes = g.varargs[:len(g.varargs)-1], g.scopes[:len(g.scopes)-1]
		g.loops = loops
	})
	g.declare(name, 'f')
	g.line("out(pcall(%s, %d%s))", name, g.IntN(9), g.pick("", ", 1", ", nil, nil"))
}

// mutate makes a few changes to a program, most of which are errors.
func (g *generator) mutate(text string) string {
	words := []string{"end", "then", "do", "=", "==", "(", ")", "{", "}", "[", "]", ",", ";", "local", "function", "return", "break", "for",
		"in", "if", "while", "repeat", "until", "...", "..", ".", ":", "'", `"`, "[[", "]]", "--", "--[[", "[=[", "0x", "1e", "12ab", "1..2",
		"nil", "x", "$", "\x01", "\xff", "\\", "~", "~=", "#", "not", "and", "or", "-", "\n", "'\\300'", "'\\", "`", "@", "!", "else",
		"elseif", "f{}", "f''", "\n(", "goto", "0", "\x00", "a.b", "&", "[==", "\r\n", "\r"}
	for range 1 + g.IntN(3) {
		if text == "" {
			return text
		}
		at := g.IntN(len(text))
		if g.chance(80) { // between words
			if i := strings.IndexAny(text[at:], " \n(),=."); i >= 0 {
				at += i
			}
		}
		end := min(at+1+g.IntN(6), len(text))
		switch g.IntN(6) {
		case 0:
			text = text[:at] + text[end:]
		case 1:
			text = text[:at]
		case 2:
			text = text[:end] + text[at:]
		default:
			text = text[:at] + g.pick(" ", "") + g.pick(words...) + g.pick(" ", "") + text[at:]
		}
	}
	return text
}
