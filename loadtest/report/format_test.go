package report

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/result"
)

var update = flag.Bool("update", false, "accept what is written as what is wanted")

// golden compares with a file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test -update ./loadtest/report accepts:\n%s", file, got)
	}
}

const formatHead = `# The JSON form of a load test

What ` + "`ringside loadtest --json FILE`" + ` writes. This is version %d of the form, as its field
` + "`version`" + ` says: the number grows by one when a field changes its meaning or goes away. New fields do not
change it, so readers pass over what they do not know.

Names end with their unit: ` + "`_ms`, `_us`, `_seconds`, `_bytes`" + `. Times of a run count from its beginning, when
its first client began. A field marked *may be missing* is missing when it is not known, or when it is 0,
empty or false. Lists stand in the order of time.
`

// FORMAT.md says of every field what its comment says, and nothing is left unsaid.
func TestFormatExplainsEveryField(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../result/result.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	names := jsonNames(reflect.TypeFor[result.Report](), map[string]string{}, map[reflect.Type]bool{})
	b := &strings.Builder{}
	fmt.Fprintf(b, formatHead, result.Version)
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			continue
		}
		spec := decl.Specs[0].(*ast.TypeSpec)
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n| field | type | meaning |\n|---|---|---|\n", spec.Name.Name, quoteNames(decl.Doc.Text(), names))
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			if field.Names == nil {
				fmt.Fprintf(b, "| … | | and the fields of %s |\n", field.Type.(*ast.Ident).Name)
				continue
			}
			tag, _ := strconv.Unquote(field.Tag.Value)
			name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
			meaning := strings.TrimSpace(field.Doc.Text() + field.Comment.Text())
			if meaning == "" {
				t.Errorf("%s.%s: not explained", spec.Name.Name, field.Names[0].Name)
			}
			kind := jsonType(field.Type)
			if options == "omitempty" {
				kind += ", may be missing"
			}
			own := "`" + name + "`"
			if rest, ok := strings.CutPrefix(meaning, field.Names[0].Name+" "); ok {
				meaning = own + " " + rest
			}
			meaning = quoteNames(meaning, names)
			fmt.Fprintf(b, "| %s | %s | %s |\n", own, kind, strings.ReplaceAll(meaning, "|", `\|`))
		}
	}
	golden(t, "FORMAT.md", b.String())
}

// camel are names of fields that cannot be words of a sentence.
var camel = regexp.MustCompile(`\b[A-Z][a-z]+[A-Z]\w*\b`)

func quoteNames(text string, names map[string]string) string {
	text = strings.Join(strings.Fields(text), " ")
	return camel.ReplaceAllStringFunc(text, func(word string) string {
		if name := names[word]; name != "" {
			return "`" + name + "`"
		}
		return word
	})
}

// jsonNames are the names of all fields by those in Go.
func jsonNames(t reflect.Type, into map[string]string, seen map[reflect.Type]bool) map[string]string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return into
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			into[f.Name] = name
		}
		jsonNames(f.Type, into, seen)
	}
	return into
}

func jsonType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return jsonType(e.X)
	case *ast.ArrayType:
		return "list of " + jsonType(e.Elt)
	case *ast.SelectorExpr:
		return "time (RFC 3339)"
	case *ast.Ident:
		switch e.Name {
		case "string", "bool":
			return map[string]string{"string": "string", "bool": "boolean"}[e.Name]
		case "int", "int64":
			return "integer"
		case "float64":
			return "number"
		}
		return "[" + e.Name + "](#" + strings.ToLower(e.Name) + ")"
	}
	return "?"
}
