package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// A test that sleeps for a while and then expects something to have happened fails on a
// machine that is slow, and passes for no reason on another. Outside virtual time a test
// therefore sleeps only in a loop: between two looks, or between two steps of a load.

// virtualMarks stand in the files whose tests run in virtual time, where time passes only
// when everything waits.
var virtualMarks = []string{"fakenet.Bubble(", "virtually(", "synctest.Wait(", "\tBubble(t, "}

// virtualHelpers are files whose functions run in the virtual time of other files' tests.
var virtualHelpers = []string{"replica/agreed_test.go", "replica/gate_test.go", "replica/plan_test.go", "replica/feed_failover_test.go"}

// soundSleeps are the functions outside virtual time that sleep for a while, and why no
// verdict depends on how long that is.
var soundSleeps = map[string]string{
	"cmd/ringside/crash_test.go under":                      "how long the load runs before the process is killed",
	"loadtest/client/fixture_test.go play":                  "how long the load runs",
	"resp/differential_cluster_commands_test.go expiryStep": "more time passes in both servers than the key has left",
	"store/faults_test.go few":                              "the limit is one of a rate, over the time that really passed",
}

// unsoundSleeps returns the functions of a test file that sleep outside a loop and are not
// among soundSleeps.
func unsoundSleeps(name string, text []byte) ([]string, error) {
	isVirtual := func(mark string) bool { return bytes.Contains(text, []byte(mark)) }
	if slices.ContainsFunc(virtualMarks, isVirtual) || slices.Contains(virtualHelpers, name) || strings.Contains(path.Base(name), "virtual") {
		return nil, nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil || soundSleeps[name+" "+f.Name.Name] != "" {
			continue
		}
		if sleepsOutsideLoop(f.Body) {
			found = append(found, f.Name.Name)
		}
	}
	return found, nil
}

func sleepsOutsideLoop(body ast.Node) (sleeps bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return false
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			sleeps = sleeps || ok && pkg.Name == "time" && n.Sel.Name == "Sleep"
		}
		return true
	})
	return sleeps
}
