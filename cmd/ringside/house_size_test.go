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
	"strings"
	"testing"
	"testing/fstest"
)

// Limits of what a reader has to take in at once. Test files do not count.
const (
	maxPackageFiles = 70
	maxPackageLines = 8000
	maxFileLines    = 450
	maxMethods      = 60 // of one type
	maxReadmeLines  = 150
)

// tooLarge lists what exceeds a limit: the most that it may have, and the reason. The list may only
// shrink: what has become a tenth less has to be noted, and what is within the limit has to go.
var tooLarge = map[string]struct {
	most   int
	reason string
}{
	"replica/table: methods of Table":    {70, "Raft, its storage and the commands on the table in one type"},
	"resp: files":                        {105, "tracking, key events, scripts and routing share a package still"},
	"resp: lines":                        {16400, "likewise"},
	"resp: methods of call":              {70, "likewise"},
	"resp: methods of conn":              {170, "likewise"},
	"resp/script/lua: methods of Thread": {95, "a method for each operation of the machine"},
	"store: methods of Unit":             {90, "what commands do with keys, strings and elements"},
}

func TestHouseSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector")
	}
	root := os.DirFS(filepath.Join("..", ".."))
	sizes, err := houseSizes(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range sizeFaults(sizes) {
		t.Error(fault)
	}
}

func TestHouseSizesFindGrowth(t *testing.T) {
	long := strings.Repeat("\n", maxFileLines+1)
	methods := ""
	for i := range maxMethods + 1 {
		methods += fmt.Sprintf("func (t *T[K]) m%d() {}\n", i)
	}
	sizes, err := houseSizes(fstest.MapFS{
		"README.md":             {Data: []byte(strings.Repeat("\n", maxReadmeLines+1))},
		"store/a.go":            {Data: []byte("package store\n" + long)},
		"store/a_test.go":       {Data: []byte("package store\n" + long + long)},
		"ring/b.go":             {Data: []byte("package ring\ntype T[K any] struct{}\n" + methods)},
		"ring/testdata/long.go": {Data: []byte("package long\n" + long)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"README.md: lines", "ring: methods of T", "store/a.go: lines"}
	var got []string
	for name, s := range sizes {
		if s.size > s.limit {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("too large are %q, not %q", got, want)
	}
	limit := maxPackageLines
	const file = "resp: lines"
	most := tooLarge[file].most
	for size, want := range map[int]bool{limit: true, most/2 + limit/2: most*9/10 > most/2+limit/2, most: false, most + 1: true} {
		found := slices.ContainsFunc(sizeFaults(map[string]houseSize{file: {size, limit}}), func(fault string) bool {
			return strings.HasPrefix(fault, file+": ") && !strings.HasSuffix(fault, "does not exist")
		})
		if found != want {
			t.Errorf("%d lines where %d may be: a fault is %t", size, most, found)
		}
	}
}

type houseSize struct{ size, limit int }

// sizeFaults compares sizes with their limits and with tooLarge.
func sizeFaults(sizes map[string]houseSize) (faults []string) {
	for name, s := range sizes {
		exception, listed := tooLarge[name]
		switch {
		case listed && s.size <= s.limit:
			faults = append(faults, name+": is within the limit: remove it from tooLarge")
		case listed && s.size < exception.most*9/10:
			faults = append(faults, fmt.Sprintf("%s: %d: note that in tooLarge instead of %d", name, s.size, exception.most))
		case listed && s.size > exception.most:
			faults = append(faults, fmt.Sprintf("%s: %d, more than the %d that it may have", name, s.size, exception.most))
		case !listed && s.size > s.limit:
			faults = append(faults, fmt.Sprintf("%s: %d, the limit is %d", name, s.size, s.limit))
		}
	}
	for name := range tooLarge {
		if _, ok := sizes[name]; !ok {
			faults = append(faults, name+": is in tooLarge and does not exist")
		}
	}
	slices.Sort(faults)
	return faults
}

// houseSizes measures the packages, files and types of a module, and its README.
func houseSizes(root fs.FS) (map[string]houseSize, error) {
	sizes := map[string]houseSize{}
	add := func(name string, n, limit int) {
		s := sizes[name]
		sizes[name] = houseSize{s.size + n, limit}
	}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if base := entry.Name(); name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		case name != "README.md" && (path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go")):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		lines := bytes.Count(text, []byte("\n"))
		if name == "README.md" {
			add(name+": lines", lines, maxReadmeLines)
			return nil
		}
		dir := path.Dir(name)
		add(dir+": files", 1, maxPackageFiles)
		add(dir+": lines", lines, maxPackageLines)
		add(name+": lines", lines, maxFileLines)
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				add(dir+": methods of "+receiver(f.Recv.List[0].Type), 1, maxMethods)
			}
		}
		return nil
	})
	return sizes, err
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
