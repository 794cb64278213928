package lua_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// officialTests are files of Lua's own test suite with the lines that need what scripts do not
// have: environments of functions, files, the library debug; and a few lines that Lua 5.1.5
// does not pass on this platform either, or that were changed for another implementation.
var officialTests = []struct {
	name string
	cut  string // ranges of lines
}{
	{"strings", ""},
	{"pm", ""},
	{"nextvar", "234-246"},
	{"vararg", ""},
	{"closure", "164-178 277-278 413-423"},
	{"calls", "241"},
	{"constructs", "189"},
	{"events", "5-14 293-294 299 330-357"},
	{"locals", "58-69 77-83"},
	{"math", "47-48 52 126-145"},
	{"sort", ""},
	{"errors", "111 156-168"},
	{"big", "3-13 362"},
	{"literals", ""},
}

// officialHost stands for what the suite's own driver defines.
const officialHost = `
function stat() end
function require() end
function os.setlocale() end
`

func TestOfficialTestSuitePasses(t *testing.T) {
	dirs, _ := filepath.Glob(filepath.Join(moduleCache(), "github.com/yuin/gopher-lua@v1.1.2/_lua5.1-tests"))
	if len(dirs) == 0 {
		t.Skip("the module that contains the test suite is not in the module cache")
	}
	for _, test := range officialTests {
		t.Run(test.name, func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join(dirs[0], test.name+".lua"))
			if err != nil {
				t.Fatal(err)
			}
			text := cutLines(strings.ReplaceAll(string(source), " do; ", " do "), test.cut)
			s := newState(256 << 20)
			run(t, s, officialHost)
			run(t, s, text)
		})
	}
}

func moduleCache() string {
	if dir := os.Getenv("GOMODCACHE"); dir != "" {
		return dir
	}
	if dir := os.Getenv("GOPATH"); dir != "" {
		return filepath.Join(dir, "pkg/mod")
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, "go/pkg/mod")
}

// cutLines empties ranges of lines, so that the other lines keep their numbers.
func cutLines(text, ranges string) string {
	lines := strings.Split(text, "\n")
	for _, r := range strings.Fields(ranges) {
		from, to, ok := strings.Cut(r, "-")
		if !ok {
			to = from
		}
		first, _ := strconv.Atoi(from)
		last, _ := strconv.Atoi(to)
		clear(lines[first-1 : last])
	}
	return strings.Join(lines, "\n")
}

// run runs a program that must not fail.
func run(t *testing.T, s *lua.State, source string) {
	t.Helper()
	p, err := lua.Compile(source, "=test")
	if err != nil {
		t.Fatal(err)
	}
	v, failed, err := s.Run(s.Closure(p), nil, func(*lua.Thread) {})
	if failed {
		t.Fatal(s.Main().ToText(v))
	}
	if err != nil {
		t.Fatal(err)
	}
}
