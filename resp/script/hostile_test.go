package script

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// greedy writes random programs that nest whatever builds values, loops or recurses. Most of them fail, take all
// the memory there is, or run until they are stopped.
type greedy struct {
	*rand.Rand
	depth int
}

// any writes one of some forms. In each, S stands for a text, T for a table, N for a number, P for a pattern and B
// for a block of statements.
func (g *greedy) any(forms []string) string {
	form := forms[g.IntN(len(forms))]
	if g.depth++; g.depth > 6 {
		form = forms[0]
	}
	defer func() { g.depth-- }()
	var b strings.Builder
	for i, c := range form {
		of := greedyForms[c]
		alone := (i == 0 || !letter(form[i-1])) && (i+1 == len(form) || !letter(form[i+1]))
		if of == nil || !alone {
			b.WriteRune(c)
			continue
		}
		b.WriteString(g.any(of))
	}
	return b.String()
}

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

var greedyForms map[rune][]string

func init() {
	greedyForms = map[rune][]string{
		'S': {
			"x", "'ab '", "string.rep(S, N)", "(S..S)", "x", "string.format('%s%99.99f%q', S, N, S)", "(string.gsub(S, P, S))",
			"(string.gsub(S, P, function(a) B return S end))", "(string.gsub(S, P, T))", "table.concat(T, S)", "table.concat(T, S, N, N)",
			"cjson.encode(T)", "cmsgpack.pack(T, T)", "struct.pack('i8sc0', N, S, S)", "redis.sha1hex(S)", "tostring(T)",
			"string.upper(S)", "string.reverse(S)", "string.sub(S, N, N)", "string.char(unpack(T))", "redis.call('bulk', S)",
			"(string.match(S, P) or S)", "string.dump(function() B end)", "redis.pcall('none', S).err",
		},
		'T': {
			"y", "{}", "{S, N, T}", "fill(N, function(i) return S end)", "fill(N, function(i) return T end)", "fill(N, function(i) return N end)",
			"cjson.decode(S)", "{cmsgpack.unpack(S)}", "{string.byte(S, 1, N)}", "redis.call('array')", "redis.call('nested')",
			"setmetatable(T, {__index = function(t, k) return S end, __newindex = T, __concat = function(a, b) return S end, __tostring = function() return S end, __lt = function() B end})",
			"{unpack(T, N, N)}", "{pcall(function() B return T end)}", "{xpcall(function() B error(S) end, function(e) B return T end)}",
			"{coroutine.wrap(function(...) B coroutine.yield(T) return S end)(S)}", "{struct.unpack('c0sI', S)}", "{cmsgpack.unpack_limit(S, N, N)}",
			"cycle(T)", "deep(N)", "{string.find(S, P, N)}", "redis.error_reply(S)", "redis.status_reply(S)",
		},
		'N': {"1", "7", "#S", "0", "-1", "100", "1e4", "1e6", "5e7", "2^31", "2^53", "-2^53", "1/0", "0/0", "(tonumber(S, 36) or 3)", "select('#', unpack(T))", "bit.lshift(N, N)"},
		'P': {"'.'", "'a'", "'a*'", "'.-b'", "'(.)(.)%1'", "'a-a-a-a-c'", "'%b()'", "'%f[%a]%a+'", "'[^b]*$'", "string.rep('a?', N)", "string.rep('(.', N)", "''", "S"},
		'B': {
			"x = S", "y = T", "kept[#kept+1] = S", "kept[#kept+1] = T", "kept[N] = T", "for i = 1, N do B end", "while true do B end", "repeat B until x == S",
			"pcall(function() B end)", "B ; B", "B ; B", "pcall(function() B end) ; pcall(function() B end)", "table.sort(T, function(a, b) B return N < N end)", "table.insert(T, N, S)", "table.remove(T, N)",
			"for k, v in pairs(T) do B end", "for w in string.gmatch(S, P) do B end", "recurse(function() B end)", "kept[#kept+1] = coroutine.create(function() B end) coroutine.resume(kept[#kept])",
			"kept[#kept+1] = coroutine.wrap(function() while true do B coroutine.yield(T) end end)", "(loadstring(S) or tostring)(T)", "(loadstring('return '..string.rep('{', N)) or tostring)(T)",
			"cjson.encode_max_depth(N)", "cjson.encode_sparse_array(false, N, N)", "cjson.decode_max_depth(N)", "x = x .. S", "y[#y+1] = y", "y[N] = S", "table.foreach(T, function(k, v) B end)",
			"redis.call('bulk', S, S)", "redis.log(redis.LOG_WARNING, S)", "redis.setresp(3)", "assert(false, S)", "while true do kept[#kept+1] = T B end",
		},
	}
}

const greedyStart = `
local x, y, kept = 'a', {}, {}
local function fill(n, f) local t = {} for i = 1, n do t[i] = f(i) end return t end
local function cycle(t) t[#t+1] = t t.c = t return t end
local function deep(n) local t = {} for i = 1, n do t = {t} end return t end
local function recurse(f) f() return recurse(f), 1 end
`

func (g *greedy) program() string {
	var b strings.Builder
	b.WriteString(greedyStart)
	for range 1 + g.IntN(6) {
		fmt.Fprintf(&b, "pcall(function() %s end) ;\n", g.any(greedyForms['B']))
	}
	return b.String() + "do return " + g.any(greedyForms[[]rune("ST")[g.IntN(2)]]) + " end"
}

// heapObjects returns the bytes of the heap that objects take, garbage included.
func heapObjects() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestRandomGreedyProgramsAreBounded runs random programs that want all memory and never end. Each ends once it is
// stopped, the heap never grows by more than some times the memory of a script, and the machine works afterwards.
func TestRandomGreedyProgramsAreBounded(t *testing.T) {
	const memory = 8 << 20
	host := tableHost{
		"bulk": "$500000\r\n" + strings.Repeat("x", 500_000) + "\r\n", "array": "*20000\r\n" + strings.Repeat("$3\r\nabc\r\n", 20_000),
		"nested": strings.Repeat("*1\r\n", 900) + ":1\r\n",
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC says
	seed := randomtest.Seed(t)
	stopped := errors.New("stopped by the test")
	r, ends, largest := NewRuntime(), map[string]int{}, uint64(0)
	for i := range randomtest.Length(360, 10) {
		source := (&greedy{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}).program()
		s, err := Compile(source)
		if err != nil {
			ends["not compiled"]++
			continue
		}
		debug.FreeOSMemory()
		before := heapObjects()
		r.Begin(memory)
		type end struct {
			reply []byte
			err   error
		}
		ended := make(chan end, 1)
		go func() {
			reply, err := r.Run(s, nil, nil, host, nil, false)
			ended <- end{reply, err}
		}()
		var e end
		peak, began, isStopped := before, time.Now(), false
		for running := true; running; {
			select {
			case e = <-ended:
				running = false
			case <-time.After(time.Millisecond):
			}
			peak = max(peak, heapObjects())
			switch took := time.Since(began); {
			case running && !isStopped && took > 15*time.Millisecond:
				r.Stop(stopped)
				isStopped = true
			case running && took > time.Minute:
				t.Fatalf("program %d does not end after it is stopped:\n%s", i, source)
			}
		}
		switch text := string(e.reply); {
		case errors.Is(e.err, ErrBroken):
			t.Fatalf("program %d: %v\n%s", i, e.err, source)
		case e.err != nil:
			ends[e.err.Error()]++
		case strings.HasPrefix(text, "-"+stopped.Error()), strings.HasPrefix(text, "-ERR not enough memory"):
			ends[text[:min(len(text), 22)]]++
		default:
			ends["a reply"]++
		}
		largest = max(largest, peak-before)
		if grown := peak - before; grown > 4*memory {
			t.Errorf("program %d: the heap has grown by %d MiB, a script may take %d:\n%s", i, grown>>20, memory>>20, source)
		}
		if got := run(t, r, "return 1 + 1"); got != ":2" {
			t.Fatalf("after program %d: %s\n%s", i, got, source)
		}
	}
	t.Logf("%v; the heap has grown by %d MiB at most", ends, largest>>20)
}
