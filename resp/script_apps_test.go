package resp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// appPackages are packages that send scripts, from npm and the Go module proxy. Sidekiq, Spring
// Data Redis and Laravel are in other registries, so their scripts are not compared.
var appPackages = struct{ npm, modules []string }{
	npm: []string{"bullmq@6.7.0", "bull@4.16.5", "bee-queue@2.0.0", "bottleneck@2.19.5",
		"rate-limiter-flexible@11.4.0", "rate-limit-redis@6.0.1", "redlock@5.0.0-beta.2"},
	modules: []string{"github.com/hibiken/asynq@v0.26.0", "github.com/go-redsync/redsync/v4@v4.18.1",
		"github.com/go-redis/redis_rate/v10@v10.0.1", "github.com/bsm/redislock@v0.9.4", "github.com/ulule/limiter/v3@v3.11.2"},
}

// appRuns is how often each script runs.
const appRuns = 30

// An appScript is a script of a package.
type appScript struct {
	name, text      string
	keys, arguments int // how many it takes
}

// TestScriptsOfPackagesAnswerAsRedis runs the scripts of well-known packages with random keys and
// arguments, and compares replies and all keys after each run. It fetches the packages.
func TestScriptsOfPackagesAnswerAsRedis(t *testing.T) {
	if os.Getenv("RINGSIDE_SCRIPTS") == "" {
		t.Skip("it fetches packages: go tool task test:scripts runs it")
	}
	for _, program := range []string{"npm", "redis-server"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed, so scripts of packages are not compared", program)
		}
	}
	packages := fetchAppPackages(t)
	for _, name := range append(appPackages.npm, appPackages.modules...) {
		t.Run(name, func(t *testing.T) {
			scripts := packages[name]
			if len(scripts) == 0 {
				t.Fatal("the package has no scripts")
			}
			failed := 0 // runs whose reply is an error
			differentialIn(t, []int{2}, func(d *differ) {
				random := rand.New(rand.NewPCG(51, uint64(len(scripts))))
				for _, s := range scripts {
					failed += d.runAppScript(s, random)
				}
			})
			t.Logf("%d scripts, %d runs, of which %d end with an error", len(scripts), len(scripts)*appRuns, failed)
		})
	}
}

// fetchAppPackages fetches the packages and returns their scripts.
func fetchAppPackages(t *testing.T) map[string][]appScript {
	t.Helper()
	dir, packages := t.TempDir(), map[string][]appScript{}
	run := func(name string, args ...string) []byte {
		c := exec.Command(name, args...)
		c.Dir = dir
		out, err := c.Output()
		if err != nil {
			t.Skipf("the packages cannot be fetched: %s %s: %v", name, strings.Join(args, " "), err)
		}
		return out
	}
	for i, name := range appPackages.npm {
		folder := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		file := strings.TrimSpace(string(run("npm", "pack", "--silent", name)))
		run("tar", "xzf", file, "-C", folder)
		packages[name] = appScriptsIn(t, folder)
		if strings.HasPrefix(name, "bottleneck@") { // it assembles its scripts from parts
			packages[name] = nil
			var texts map[string]string
			if err := json.Unmarshal(run("node", "-e", `const s = require(process.argv[1]), all = {}
for (const n of Object.keys(require(process.argv[1].replace("Scripts.js", "lua.json")))) {
  try { all[n] = s.payload(n.replace(".lua", "")) } catch {}
}
console.log(JSON.stringify(all))`, filepath.Join(folder, "package/lib/Scripts.js")), &texts); err != nil {
				t.Fatal(err)
			}
			for n, text := range texts {
				packages[name] = append(packages[name], newAppScript(n, text))
			}
			slices.SortFunc(packages[name], func(a, b appScript) int { return cmp.Compare(a.name, b.name) })
		}
	}
	for _, name := range appPackages.modules {
		var module struct{ Dir string }
		if err := json.Unmarshal(run("go", "mod", "download", "-json", name), &module); err != nil {
			t.Fatal(err)
		}
		packages[name] = appScriptsIn(t, module.Dir)
	}
	return packages
}

var (
	appCall     = regexp.MustCompile(`redis\.p?call\b`)
	appTemplate = regexp.MustCompile("(?s)[=:]\\s*`((?:[^`\\\\]|\\\\.)*)`")
	appIndex    = regexp.MustCompile(`\b(KEYS|ARGV)\s*\[\s*(\d+)\s*\]`)
	appCount    = regexp.MustCompile(`-(\d+)\.(?:js|lua)$`)
)

// appScriptsIn returns the scripts in the files of a package, each once: template literals of
// JavaScript, string literals of Go, and files of Lua that include no other.
func appScriptsIn(t *testing.T, dir string) (scripts []appScript) {
	t.Helper()
	add := func(name, text string) {
		if !appCall.MatchString(text) || strings.Contains(text, "${") || strings.Contains(text, "--- @include") ||
			slices.ContainsFunc(scripts, func(s appScript) bool { return s.text == text }) {
			return
		}
		scripts = append(scripts, newAppScript(name, text))
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && (slices.Contains([]string{"esm", "commands", "node_modules", "test"}, entry.Name()) || path != dir && entry.Name()[0] == '.') {
				return filepath.SkipDir
			}
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".lua":
			add(entry.Name(), string(content))
		case ".js", ".cjs":
			for i, m := range appTemplate.FindAllStringSubmatch(string(content), -1) {
				add(fmt.Sprint(i, "-", entry.Name()), unescapeTemplate(m[1]))
			}
		case ".go":
			if strings.HasSuffix(path, "_test.go") {
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, content, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil {
						add(fmt.Sprint(entry.Name(), ":", set.Position(lit.Pos()).Line), text)
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return scripts
}

var templateEscape = regexp.MustCompile(`(?s)\\.`)

func unescapeTemplate(s string) string {
	return templateEscape.ReplaceAllStringFunc(s, func(e string) string {
		switch e[1] {
		case '\n':
			return ""
		case 'n':
			return "\n"
		case 't':
			return "\t"
		}
		return e[1:]
	})
}

func newAppScript(name, text string) appScript {
	s := appScript{name: name, text: text}
	if m := appCount.FindStringSubmatch(name); m != nil {
		s.keys, _ = strconv.Atoi(m[1])
	}
	for _, m := range appIndex.FindAllStringSubmatch(text, -1) {
		if n, _ := strconv.Atoi(m[2]); m[1] == "KEYS" {
			s.keys = max(s.keys, n)
		} else {
			s.arguments = max(s.arguments, n)
		}
	}
	if s.keys == 0 && strings.Contains(text, "KEYS") {
		s.keys = 3
	}
	return s
}

var appFound = map[[2]string][][]string{}

// find returns the matches of a pattern in the script. Each search is done once, since long scripts take
// milliseconds.
func (s appScript) find(pattern string) [][]string {
	found, ok := appFound[[2]string{s.text, pattern}]
	if !ok {
		found = regexp.MustCompile(pattern).FindAllStringSubmatch(s.text, -1)
		appFound[[2]string{s.text, pattern}] = found
	}
	return found
}

// argument returns a text such as the script's code expects of argument i, or any.
func (s appScript) argument(d *differ, i int, random *rand.Rand) string {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	// Times are small, because some scripts count to a number that they take.
	number := func() string {
		return pick("0", "1", "2", "3", "5", "10", "100", "-1", "1000", "90000", "100000", "0.5")
	}
	plain := func() string {
		if random.IntN(2) == 0 {
			return number()
		}
		return pick("1", "2", "custom", "bull:q:", "bull:q:2",
			"bull:q:events", "", "token", "wait", "active", "delayed", "list", "zset", `{"a":[1,{"b":null}],"c":"ü"}`, "[]", "data", "failed")
	}
	arg := fmt.Sprintf(`ARGV\[%d\]`, i)
	has := func(pattern string) bool { return s.find(pattern) != nil }
	if random.IntN(20) == 0 {
		return plain()
	}
	if has(`(?i)scan["'], *` + arg) {
		return "0" // other cursors are the server's own
	}
	// An expiry of a few milliseconds would pass on one server and not on the other.
	alias := arg
	if m := s.find(`local (\w+) = (?:tonumber\()?` + arg); m != nil {
		alias = `(?:` + arg + `|\b` + m[0][1] + `\b)`
	}
	if has(`(?i)(?:expire|["'](?:px|ex)["'])[^\n]*` + alias) {
		return pick("100000", "250000", "3600000")
	}
	packed, decoded := has(`cmsgpack\.unpack\(`+arg), has(`cjson\.decode\(`+arg)
	if packed || decoded {
		value := map[string]any{}
		fields := s.find(`\b(?:opts|options|args)(?:\[["'](\w+)["']\]|\.(\w+))`)
		for _, f := range fields {
			if random.IntN(3) > 0 {
				value[f[1]+f[2]] = pick("0", "1", "2", "5", "1000", "token", "bull:q:2", "name")
				switch random.IntN(6) {
				case 0, 1:
					value[f[1]+f[2]] = random.IntN(5)
				case 2:
					value[f[1]+f[2]] = true
				case 3:
					value[f[1]+f[2]] = map[string]any{"count": 2, "max": 3, "duration": 100000, "id": "x", "type": "exponential"}
				}
			}
		}
		var whole any = value
		if len(fields) == 0 || i == 1 && packed { // BullMQ: prefix, job, name, time, and so on
			list := []any{"bull:q:", pick("", "2", "7", "custom"), "name", 4e12}
			for len(list) < 12 {
				list = append(list, []any{false, nil, "bull:q:2", "x", 1, "1", map[string]any{"a": 1}}[random.IntN(7)])
			}
			whole = list
		}
		text, err := json.Marshal(whole)
		if err != nil {
			d.t.Fatal(err)
		}
		if decoded {
			return string(text)
		}
		return d.redis.Do("EVAL", "return cmsgpack.pack(cjson.decode(ARGV[1]))", "0", string(text)).Text
	}
	if has(`tonumber\(` + arg) {
		return number()
	}
	return plain()
}

// commandTypes tell from a command what type its key has.
var commandTypes = []struct{ command, kind string }{
	{`(?:[lr](?:push|pop|len|range|rem|trim|index|pos)\w*|rpoplpush|brpop\w*)`, "list"}, {`h\w+`, "hash"}, {`z\w+`, "zset"},
	{`s(?:add|rem|card|members|ismember|pop)`, "set"}, {`x\w+`, "stream"}, {`(?:set\w*|get\w*|incr\w*|decr\w*)`, "string"},
}

// key returns the name of key i and makes one of the type that the script's code expects.
func (s appScript) key(i int, random *rand.Rand) (name string, create []string) {
	name = "k" + strconv.Itoa(i)
	ref := fmt.Sprintf(`KEYS\[%d\]`, i)
	if m := s.find(ref + `[ \t]+(?:->[ \t]+)?["']?([a-zA-Z]+)`); m != nil {
		name = m[0][1] // as the comment calls it; so scripts of a package find each other's keys
	}
	var kinds []string
	names := ref
	if m := s.find(`local (\w+) = ` + ref); m != nil {
		names = `(?:` + ref + `|` + m[0][1] + `\b)`
	}
	for _, c := range commandTypes {
		if s.find(`(?i)call\(["']`+c.command+`["'],\s*`+names) != nil {
			kinds = append(kinds, c.kind)
		}
	}
	name = "bull:q:" + name
	kind := ""
	if kinds != nil {
		kind = kinds[random.IntN(len(kinds))]
	}
	if r := random.IntN(10); r == 0 {
		kind = []string{"list", "hash", "zset", "set", "stream", "string"}[random.IntN(6)]
	} else if r < 4 {
		kind = ""
	}
	switch kind {
	case "list":
		create = []string{"RPUSH", name, "1", "2", "3", "custom"}
	case "hash":
		create = []string{"HSET", name, "1", "5", "2", "7", "name", "x", "opts", `{"priority":1}`, "paused", "1", "concurrency", "2"}
	case "zset":
		create = []string{"ZADD", name, "1", "1", "2", "2", "90000", "3", "200000", "custom"}
	case "set":
		create = []string{"SADD", name, "1", "2", "3"}
	case "stream":
		create = []string{"XADD", name, "1-1", "event", "x"}
	case "string":
		create = []string{"SET", name, []string{"1", "0", "token", "100"}[random.IntN(4)]}
	}
	return name, create
}

// runAppScript runs a script with random keys and arguments and returns how many runs end with
// an error.
func (d *differ) runAppScript(s appScript, random *rand.Rand) (failed int) {
	d.t.Helper()
	sha := d.do("SCRIPT", "LOAD", s.text)
	if sha.Kind == '-' {
		d.t.Logf("%s cannot be loaded: %s", s.name, sha)
		return appRuns
	}
	for run := range appRuns {
		if run%6 == 0 {
			d.sent = nil
			d.do("FLUSHALL")
		}
		create, args := s.draw(d, sha.Text, random)
		for _, c := range create {
			d.do("DEL", c[1])
			d.do(c...)
		}
		want, got := d.both(args)
		if want.Kind == '-' {
			failed++
		}
		if !sameNow(got, want, s.isTimed(), s.find(`(?i)hgetall|hkeys|hvals|smembers`) != nil) {
			d.t.Errorf("%s:\n%s", s.name, s.text)
			d.differs(args, got, want)
		}
		d.compareKeyspaces(s, args)
	}
	return failed
}

// draw returns keys to create and a command that runs the script. Mostly it draws again where
// Redis replies with an error, in another database: what succeeds shows more.
func (s appScript) draw(d *differ, sha string, random *rand.Rand) (create [][]string, args []string) {
	tries := 4
	if random.IntN(5) == 0 {
		tries = 1
	}
	d.redis.Do("SELECT", "1")
	defer d.redis.Do("SELECT", "0")
	for range tries {
		d.redis.Do("FLUSHDB")
		create, args = [][]string{{"HSET", "bull:q:2", "name", "x", "data", "{}", "opts", `{"attempts":2}`, "timestamp", "90000",
			"delay", "5", "priority", "1", "atm", "1", "msg", "m", "state", "pending"}}, []string{"EVALSHA", sha, strconv.Itoa(s.keys)}
		for i := range s.keys {
			name, c := s.key(i+1, random)
			if args = append(args, name); c != nil {
				create = append(create, c)
			}
		}
		more := 0
		if strings.Contains(s.text, "#ARGV") || strings.Contains(s.text, "(ARGV") {
			more = random.IntN(4)
		}
		for i := range s.arguments + more {
			args = append(args, s.argument(d, i+1, random))
		}
		d.redis.DoAll(create)
		if d.redis.Do(args...).Kind != '-' {
			break
		}
	}
	return create, args
}

// compareKeyspaces compares type, content and expiry of all keys, then removes those that expire
// soon, before they expire on one server only.
func (d *differ) compareKeyspaces(s appScript, args []string) {
	d.t.Helper()
	var names []string
	for _, o := range []*resptest.Conn{d.redis, d.ours} {
		for _, k := range o.Do("KEYS", "*").Elems {
			names = append(names, k.Text)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		want, got := d.redis.Do("PTTL", name), d.ours.Do("PTTL", name)
		if ms := max(intOf(want), intOf(got)); ms >= 0 && ms < 60_000 {
			d.redis.Do("DEL", name)
			d.ours.Do("DEL", name)
			continue
		}
		if want.Text == "-2" && got.Text == "-2" { // expired meanwhile
			continue
		}
		if (want.Text == "-2" || got.Text == "-2") && s.find(`max\(1, rcall\("PTTL"`) != nil {
			// The script gives the key 1 ms. Redis deletes it within PEXPIRE if that takes as long.
			d.redis.Do("DEL", name)
			d.ours.Do("DEL", name)
			continue
		}
		kind := d.redis.Do("TYPE", name)
		read := map[string][]string{"list": {"LRANGE", name, "0", "-1"}, "hash": {"HGETALL", name}, "zset": {"ZRANGE", name, "0", "-1", "WITHSCORES"},
			"set": {"SMEMBERS", name}, "stream": {"XRANGE", name, "-", "+"}, "string": {"GET", name}, "none": {"GET", name}}[kind.Text]
		same := sameNow(got, want, true, false) && d.ours.Do("TYPE", name).Text == kind.Text
		if want, got = d.redis.Do(read...), d.ours.Do(read...); !same || !sameNow(got, want, s.isTimed(), kind.Text == "hash" || kind.Text == "set") {
			d.t.Errorf("%s leaves another %s (PTTL and TYPE same: %t) at %q:\n%s", s.name, kind.Text, same, name, s.text)
			d.differs(args, got, want)
		}
	}
}

func intOf(v resptest.Value) int { n, _ := strconv.Atoi(v.Text); return n }

// streamID is an ID that XADD has made from the time.
var streamID = regexp.MustCompile(`\b1\d{12}-\d+\b`)

// isTimed tells whether a script reads the time, so that its numbers may differ.
func (s appScript) isTimed() bool { return s.find(`(?i)["']time["']|ttl`) != nil }

// sameNow tells whether two replies are the same but for IDs of streams and, if they depend on the
// time, but for some seconds: in large numbers they are milliseconds, in fractions seconds. Elements
// of hashes and sets have no order.
func sameNow(got, want resptest.Value, timed, unordered bool) bool {
	if got.Kind != want.Kind || len(got.Elems) != len(want.Elems) {
		return false
	}
	if unordered && want.Elems != nil {
		g, w := slices.Clone(got.Elems), slices.Clone(want.Elems)
		for _, s := range [][]resptest.Value{g, w} {
			slices.SortFunc(s, func(a, b resptest.Value) int { return strings.Compare(a.String(), b.String()) })
		}
		got.Elems, want.Elems = g, w
	}
	for i := range want.Elems {
		if !sameNow(got.Elems[i], want.Elems[i], timed, unordered) {
			return false
		}
	}
	g, w := streamID.ReplaceAllString(got.Text, "ID"), streamID.ReplaceAllString(want.Text, "ID")
	if g == w {
		return true
	}
	a, errA := strconv.ParseFloat(g, 64)
	b, errB := strconv.ParseFloat(w, 64)
	if !timed || errA != nil || errB != nil {
		return false
	}
	return a > 1000 && b > 1000 && math.Abs(a-b) < 10_000 || a != math.Trunc(a) && math.Abs(a-b) < 10
}
