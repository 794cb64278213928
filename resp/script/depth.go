package script

import "github.com/yuin/gopher-lua/ast"

// maxSyntax is how deep a piece of code may be nested: the compiler calls itself for each
// level, which takes memory, and for some operators time.
const maxSyntax = 1000

type syntaxLevel struct {
	node  any // ast.Stmt or ast.Expr
	level int
}

// tooDeep tells whether code is nested deeper than that. It does not call itself.
func tooDeep(chunk []ast.Stmt) bool {
	var todo []syntaxLevel
	level := 1
	stmts := func(list []ast.Stmt) {
		for _, s := range list {
			todo = append(todo, syntaxLevel{s, level})
		}
	}
	exprs := func(list ...ast.Expr) {
		for _, e := range list {
			if e != nil {
				todo = append(todo, syntaxLevel{e, level})
			}
		}
	}
	stmts(chunk)
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at.level > maxSyntax {
			return true
		}
		level = at.level + 1
		switch n := at.node.(type) {
		case *ast.AssignStmt:
			exprs(n.Lhs...)
			exprs(n.Rhs...)
		case *ast.LocalAssignStmt:
			exprs(n.Exprs...)
		case *ast.FuncCallStmt:
			exprs(n.Expr)
		case *ast.DoBlockStmt:
			stmts(n.Stmts)
		case *ast.WhileStmt:
			exprs(n.Condition)
			stmts(n.Stmts)
		case *ast.RepeatStmt:
			exprs(n.Condition)
			stmts(n.Stmts)
		case *ast.IfStmt:
			exprs(n.Condition)
			stmts(n.Then)
			stmts(n.Else)
		case *ast.NumberForStmt:
			exprs(n.Init, n.Limit, n.Step)
			stmts(n.Stmts)
		case *ast.GenericForStmt:
			exprs(n.Exprs...)
			stmts(n.Stmts)
		case *ast.FuncDefStmt:
			exprs(n.Func)
		case *ast.ReturnStmt:
			exprs(n.Exprs...)
		case *ast.AttrGetExpr:
			exprs(n.Object, n.Key)
		case *ast.TableExpr:
			for _, f := range n.Fields {
				exprs(f.Key, f.Value)
			}
		case *ast.FuncCallExpr:
			exprs(n.Func, n.Receiver)
			exprs(n.Args...)
		case *ast.LogicalOpExpr:
			exprs(n.Lhs, n.Rhs)
		case *ast.RelationalOpExpr:
			exprs(n.Lhs, n.Rhs)
		case *ast.StringConcatOpExpr:
			exprs(n.Lhs, n.Rhs)
		case *ast.ArithmeticOpExpr:
			exprs(n.Lhs, n.Rhs)
		case *ast.UnaryMinusOpExpr:
			exprs(n.Expr)
		case *ast.UnaryNotOpExpr:
			exprs(n.Expr)
		case *ast.UnaryLenOpExpr:
			exprs(n.Expr)
		case *ast.FunctionExpr:
			stmts(n.Stmts)
		}
	}
	return false
}
