package main

import (
	"go/ast"
	"go/token"
	"slices"
)

// replyOwner reads and writes RESP for all packages.
const replyOwner = "resp/wire"

// replyReaders returns the functions of a file that read replies by hand: they compare bytes with
// those that a string, an array and a number begin with. Packages name these bytes by the constants
// of replyOwner, after it has parsed them.
func replyReaders(file *ast.File) (found []string) {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		compared := comparedBytes(f.Body)
		if slices.Contains(compared, "'$'") && slices.Contains(compared, "'*'") && slices.Contains(compared, "':'") {
			found = append(found, f.Name.Name)
		}
	}
	return found
}

// comparedBytes returns the characters that cases of switches, == and != have on a side.
func comparedBytes(body ast.Node) (all []string) {
	add := func(side ast.Expr) {
		if lit, ok := side.(*ast.BasicLit); ok && lit.Kind == token.CHAR {
			all = append(all, lit.Value)
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CaseClause:
			for _, side := range n.List {
				add(side)
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				add(n.X)
				add(n.Y)
			}
		}
		return true
	})
	return all
}
