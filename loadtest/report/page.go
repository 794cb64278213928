package report

import (
	_ "embed"
	"html/template"
)

// baseStyle is the style of all pages.
//
//go:embed base.css
var baseStyle string

//go:embed table.html
var tableTemplate string

// newPageTemplate parses the template of a page, which can show a [Grid] by {{template "table" .}}. It
// panics if the text is not a template.
func newPageTemplate(text string) *template.Template {
	return template.Must(template.Must(template.New("page").Parse(tableTemplate)).Parse(text))
}
