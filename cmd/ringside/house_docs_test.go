package main

import (
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

func TestHouseExportedNamesAreDocumented(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector")
	}
	names, err := undocumented(os.DirFS(filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Errorf("%s is exported and has no comment", name)
	}
}

func TestHouseFindsExportedNamesWithoutComment(t *testing.T) {
	names, err := undocumented(fstest.MapFS{
		"a/a.go": {Data: []byte(`package a

type T struct{}

// U is documented.
type U[K any] struct{}

func (u *U[K]) M() {}

func (t hidden) M() {}

func F() {}

// G is documented.
func G() {}

const (
	A = 1 // documented
	B = 2
)

// The group is documented.
const (
	C = 3
	d = 4
)
`)},
		"a/a_test.go":      {Data: []byte("package a\nfunc InTest() {}\n")},
		"a/testdata/b.go":  {Data: []byte("package b\nfunc F() {}\n")},
		"a/generated/c.go": {Data: []byte("package c\n\nvar V int\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a/a.go: B", "a/a.go: F", "a/a.go: T", "a/a.go: U.M", "a/generated/c.go: V"}
	if !slices.Equal(names, want) {
		t.Errorf("without a comment are %q, not %q", names, want)
	}
}

// undocumented returns the exported names of a module that have no comment: neither their own nor, of
// constants and variables, that of their group. Methods count where their type is exported.
func undocumented(root fs.FS) (names []string, err error) {
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if base := entry.Name(); name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			for _, exported := range undocumentedIn(decl) {
				names = append(names, fmt.Sprintf("%s: %s", name, exported))
			}
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

func undocumentedIn(decl ast.Decl) (names []string) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Doc != nil || !decl.Name.IsExported() {
			return nil
		}
		if decl.Recv == nil {
			return []string{decl.Name.Name}
		}
		if of := receiver(decl.Recv.List[0].Type); ast.IsExported(of) {
			return []string{of + "." + decl.Name.Name}
		}
	case *ast.GenDecl:
		if decl.Doc != nil {
			return nil
		}
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Doc == nil && spec.Name.IsExported() {
					names = append(names, spec.Name.Name)
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if spec.Doc == nil && spec.Comment == nil && name.IsExported() {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}
