package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// shifts are what a comparison is changed to: moved by one, and turned round.
var shifts = map[token.Token][]string{
	token.LSS: {"<=", ">="}, token.LEQ: {"<", ">"}, token.GTR: {">=", "<="}, token.GEQ: {">", "<"},
	token.EQL: {"!="}, token.NEQ: {"=="},
}

// quiet are calls whose absence nobody is to notice: locks, whose loss is the race detector's to find, and words for people.
var quiet = []string{"Lock", "Unlock", "RLock", "RUnlock", "Debug", "Info", "Warn", "Error", "panic"}

// walk puts mutants into everything below a node.
func (f *file) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR // a constant cannot be decided at run time
		case *ast.FuncDecl:
			f.ends(n.Type, n.Body)
			f.truths(n.Type, n.Body)
		case *ast.FuncLit:
			f.ends(n.Type, n.Body)
			f.truths(n.Type, n.Body)
		case *ast.IfStmt:
			f.condition(n.Cond)
			f.leaves(n.Body.List, "if "+f.text(n.Cond))
		case *ast.ForStmt:
			f.condition(n.Cond)
		case *ast.SwitchStmt:
			f.cases(n)
		case *ast.BlockStmt:
			f.steps(n.List)
		case *ast.CaseClause:
			f.steps(n.Body)
		case *ast.CommClause:
			f.steps(n.Body)
		case *ast.BinaryExpr:
			f.binary(n)
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				id := f.add(n, f.text(n), f.text(n.X))
				f.edits.begin(f.at(n.Pos()), len("!"), f.at(n.End()), fmt.Sprintf("mutantNot_(%d, ", id), ")")
			}
		case *ast.CallExpr:
			f.call(n)
		}
		return true
	})
}

// binary mutates a comparison and the two that join conditions.
func (f *file) binary(n *ast.BinaryExpr) {
	from, to := f.at(n.Pos()), f.at(n.End())
	x, y := f.text(n.X), f.text(n.Y)
	if ops, ok := shifts[n.Op]; ok {
		var b strings.Builder
		first := len(f.mutants)
		for i, op := range ops {
			changed := x + " " + op + " " + y
			f.add(n, f.text(n), changed)
			fmt.Fprintf(&b, "case %d: return %s; ", i+1, changed)
		}
		f.edits.around(from, to, fmt.Sprintf("(func() bool { switch mutantOf_(%d, %d) { %s}; return ", first, len(ops), b.String()), "}())")
		return
	}
	name, other := "mutantAnd_", "||"
	switch n.Op {
	case token.LAND:
	case token.LOR:
		name, other = "mutantOr_", "&&"
	default:
		return
	}
	id := f.add(n, f.text(n), x+" "+other+" "+y)
	f.edits.around(from, to, fmt.Sprintf("%s(%d, func() bool { return ", name, id), ") })")
	f.edits.replace(f.at(n.OpPos), f.at(n.OpPos)+len(n.Op.String()), "}, func() bool { return (") // a line may end here
	f.condition(n.X)
	f.condition(n.Y)
}

// condition negates an expression that is a condition by itself. Those that are put together are mutated where they are.
func (f *file) condition(e ast.Expr) {
	switch e := e.(type) {
	case nil, *ast.BinaryExpr, *ast.UnaryExpr:
	case *ast.ParenExpr:
		f.condition(e.X)
	default:
		text := f.text(e)
		to := "!" + text
		if text == "true" {
			to = "false"
		} else if text == "false" {
			to = "true"
		}
		f.edits.around(f.at(e.Pos()), f.at(e.End()), fmt.Sprintf("mutantFlip_(%d, ", f.add(e, text, to)), ")")
	}
}

// truths negates what a function returns as bool.
func (f *file) truths(t *ast.FuncType, body *ast.BlockStmt) {
	if t.Results == nil || body == nil {
		return
	}
	var truth []bool
	for _, r := range t.Results.List {
		id, ok := r.Type.(*ast.Ident)
		for range max(1, len(r.Names)) {
			truth = append(truth, ok && id.Name == "bool")
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == len(truth) {
			for i, e := range r.Results {
				if truth[i] {
					f.condition(e)
				}
			}
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
}

// cases mutates the cases of a switch: their conditions, and that they return.
func (f *file) cases(n *ast.SwitchStmt) {
	for _, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		words := make([]string, len(c.List))
		for i, e := range c.List {
			words[i] = f.text(e)
			if n.Tag == nil {
				f.condition(e)
			}
		}
		if len(c.List) > 0 {
			f.leaves(c.Body, "case "+strings.Join(words, ", "))
		}
	}
}

// leaves leaves out the statement by which a branch leaves.
func (f *file) leaves(list []ast.Stmt, where string) {
	if len(list) == 0 {
		return
	}
	switch last := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
		f.leaveOut(last, where+": "+f.text(last))
	case *ast.BranchStmt:
		if last.Tok != token.FALLTHROUGH { // which must be the last of its case
			f.leaveOut(last, where+": "+f.text(last))
		}
	}
}

// steps leaves out calls, counts, and what is kept in fields.
func (f *file) steps(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && !slices.Contains(quiet, calls(call)) {
				f.leaveOut(s, f.text(s))
			}
		case *ast.IncDecStmt:
			f.leaveOut(s, f.text(s))
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && !local(s.Lhs) {
				f.leaveOut(s, f.text(s))
			}
		}
	}
}

// local reports whether all that is assigned are plain variables, or nothing.
func local(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool { _, plain := e.(*ast.Ident); return !plain })
}

func (f *file) leaveOut(s ast.Stmt, what string) {
	f.edits.around(f.at(s.Pos()), f.at(s.End()), fmt.Sprintf("if !mutant_(%d) { ", f.add(s, what, "left out")), " }")
}

// calls is the last part of the name of what is called.
func calls(n *ast.CallExpr) string {
	switch fun := n.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

// call takes the larger one for the smaller one.
func (f *file) call(n *ast.CallExpr) {
	other := map[string]string{"min": "max", "max": "min"}
	id, ok := n.Fun.(*ast.Ident)
	if !ok || other[id.Name] == "" {
		return
	}
	text := f.text(n)
	changed := other[id.Name] + strings.TrimPrefix(text, id.Name)
	f.edits.around(f.at(n.Pos()), f.at(n.End()), fmt.Sprintf("mutantPick_(%d, ", f.add(n, text, changed)), ", "+changed+")")
}

// ends lets a function whose last branch does not return any more panic, so that it compiles.
func (f *file) ends(t *ast.FuncType, body *ast.BlockStmt) {
	if t.Results == nil || body == nil || len(body.List) == 0 {
		return
	}
	if _, returns := body.List[len(body.List)-1].(*ast.ReturnStmt); !returns {
		end := f.at(body.Rbrace)
		f.edits.replace(end, end, `; panic("a branch did not leave") `)
	}
}
