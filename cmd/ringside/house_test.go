package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rules of the house: what lies where, and who may import whom. They are
// checked here, since the binary is the one package that stands above all others.

const module = "github.com/ringside-kv/ringside"

// layers are the packages of the module from the lowest to the highest; a name
// with /... stands for everything below it. A package imports from lower layers,
// and from its own family.
var layers = [][]string{
	{"internal/...", "ring"},
	{"ring/ringtest"},
	{"ring/...", "buckets/...", "store/...", "replica/members/...", "replica/table/..."},
	{"ring/strategy"},
	{"replica/step", "replica/internal/..."},
	{"replica/stream", "replica/lease"},
	{"replica/feed"},
	{"replica/scrub"},
	{"replica/..."},
	{"resp/..."},
	{"resp/node/...", "internal/redistest", "internal/resptest"}, // tests of lower packages import it
	{"loadtest/..."},
	{"cmd/...", "deploy"},
}

// purePackages do no I/O, start no goroutine, look at no clock and log nothing.
var purePackages = []string{"ring/...", "buckets/..."}

// impureImports are what a pure package does without.
var impureImports = []string{
	"crypto/rand", "database/sql/...", "io/fs", "io/ioutil", "log/...", "net/...", "os/...",
	"plugin", "runtime/pprof", "runtime/trace", "syscall/...", "github.com/uber-go/tally/...",
}

// clock are the functions of package time that read a clock or wait for it.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// owners are the libraries that one package alone imports.
var owners = []struct{ library, owner string }{
	{"github.com/cockroachdb/pebble", "store/..."},
	{"github.com/tidwall/redcon", "resp/wire"},
	{"github.com/hashicorp/serf", "replica/members/..."},
	{"github.com/hashicorp/memberlist", "replica/members/..."},
	{"github.com/hashicorp/raft", "replica/table/..."},
}

// topLevel is what may lie in the repository's root, besides names that begin
// with a dot, which tools want, and what .gitignore names.
var topLevel = []string{
	"cmd", "resp", "ring", "buckets", "replica", "store", "loadtest", "internal", "deploy", "docs",
	"go.mod", "go.sum", "Taskfile.yml", "staticcheck.conf", "Dockerfile", "compose.yaml",
	"README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md",
}

func TestHouseRules(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector")
	}
	root := os.DirFS(filepath.Join("..", ".."))
	if _, err := fs.Stat(root, "go.mod"); err != nil {
		t.Fatal(err)
	}
	broken, err := brokenRules(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range broken {
		t.Error(b)
	}
}

// bareBubble is what tests in virtual time do not call themselves. It stands here in
// two parts, lest it be found here.
const bareBubble = "synctest." + "Test("

// brokenRules looks through the module whose root it is given. Test files are
// free to import what they drive.
func brokenRules(root fs.FS) ([]string, error) {
	broken, err := strayEntries(root)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, ".", func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); dir != "." && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return fs.SkipDir
		}
		found, err := brokenInPackage(root, dir)
		broken = append(broken, found...)
		return err
	})
	return broken, err
}

func strayEntries(root fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(root, ".")
	if err != nil {
		return nil, err
	}
	var ignored []string
	if text, err := fs.ReadFile(root, ".gitignore"); err == nil {
		for _, line := range strings.Fields(string(text)) {
			ignored = append(ignored, strings.Trim(line, "/"))
		}
	}
	var broken []string
	for _, entry := range entries {
		name := entry.Name()
		isIgnored := slices.ContainsFunc(ignored, func(pattern string) bool {
			ok, _ := path.Match(pattern, name)
			return ok
		})
		if !strings.HasPrefix(name, ".") && !isIgnored && !slices.Contains(topLevel, name) {
			broken = append(broken, name+": nothing of that name belongs in the root")
		}
	}
	return broken, nil
}

func brokenInPackage(root fs.FS, dir string) ([]string, error) {
	files, err := fs.Glob(root, path.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	var broken []string
	add := func(where, format string, args ...any) {
		broken = append(broken, where+": "+fmt.Sprintf(format, args...))
	}

	if dir == "." || layer(dir) < 0 {
		add(dir, "no package belongs here")
	}
	if documented, err := hasPackageComment(root, path.Join(dir, "doc.go")); err != nil {
		return nil, err
	} else if !documented {
		add(dir, "no doc.go with a package comment")
	}
	for _, name := range files {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if dir != replyOwner {
			for _, f := range replyReaders(file) {
				add(name, "%s reads replies by hand: %s does", f, replyOwner)
			}
		}
		if strings.HasSuffix(name, "_test.go") {
			if bytes.Contains(text, []byte(bareBubble)) && dir != "internal/fakenet" {
				add(name, "calls %s...), where fakenet.Bubble also keeps the race detector whole", bareBubble)
			}
			sleepers, err := unsoundSleeps(name, text)
			if err != nil {
				return nil, err
			}
			for _, f := range sleepers {
				add(name, "%s sleeps outside virtual time and outside a loop: wait for what it expects", f)
			}
			continue
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, err
			}
			if why := badImport(dir, imported); why != "" {
				add(name, "%s", why)
			}
		}
		if matchesAny(purePackages, dir) {
			for _, why := range impureCode(file) {
				add(name, "%s", why)
			}
		}
	}
	return broken, nil
}

func hasPackageComment(root fs.FS, name string) (bool, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return false, nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		return false, err
	}
	doc := file.Doc.Text()
	return strings.HasPrefix(doc, "Package "+file.Name.Name+" ") || file.Name.Name == "main" && strings.HasPrefix(doc, "Command "), nil
}

// badImport says why the package in dir may not import a path; empty if it may.
func badImport(dir, imported string) string {
	for _, o := range owners {
		if isLibrary(o.library, imported) && !matches(o.owner, dir) {
			return fmt.Sprintf("imports %s, which only %s does", imported, strings.TrimSuffix(o.owner, "/..."))
		}
	}
	if matchesAny(purePackages, dir) && matchesAny(impureImports, imported) {
		return fmt.Sprintf("imports %s, but is pure", imported)
	}
	to, ours := strings.CutPrefix(imported, module+"/")
	if ours && family(to) != family(dir) && layer(to) >= layer(dir) {
		return fmt.Sprintf("imports %s, which does not lie below it", to)
	}
	return ""
}

// layer is the height of a package, -1 if it has none: that of the most exact
// name.
func layer(dir string) int {
	height, _ := place(dir)
	return height
}

// family is the name in layers that a package goes by: packages of one name may
// import each other.
func family(dir string) string {
	_, name := place(dir)
	if name == "ring/..." { // each strategy is a family of its own
		return strings.Join(strings.SplitN(dir, "/", 3)[:2], "/")
	}
	return name
}

func place(dir string) (height int, name string) {
	height = -1
	longest := 0
	for i, names := range layers {
		for _, n := range names {
			if n == dir {
				return i, n
			}
			if matches(n, dir) && len(n) > longest {
				height, name, longest = i, n, len(n)
			}
		}
	}
	return height, name
}

// matches tells whether a path is the pattern, or below it if the pattern ends
// with /... (which includes what stands before).
func matches(pattern, p string) bool {
	prefix, below := strings.CutSuffix(pattern, "/...")
	return p == prefix || below && strings.HasPrefix(p, prefix+"/")
}

func matchesAny(patterns []string, p string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, p) })
}

// isLibrary also takes a library's companions, raft-boltdb for raft.
func isLibrary(library, imported string) bool {
	rest, ok := strings.CutPrefix(imported, library)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '-')
}

// impureCode finds goroutines, clocks and prints.
func impureCode(file *ast.File) []string {
	local := map[string]string{} // the name that a package has in this file
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		local[name] = imported
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, "starts a goroutine, but is pure")
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			switch {
			case !ok:
			case local[pkg.Name] == "time" && slices.Contains(clock, n.Sel.Name):
				found = append(found, "uses time."+n.Sel.Name+", but is pure")
			case local[pkg.Name] == "fmt" && strings.HasPrefix(n.Sel.Name, "Print"):
				found = append(found, "uses fmt."+n.Sel.Name+", but is pure")
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				found = append(found, "uses "+f.Name+", but is pure")
			}
		}
		return true
	})
	return found
}
