package report

import (
	_ "embed"
	"html/template"
)

//go:embed base.css
var baseStyle string

//go:embed table.html
var tableTemplate string

// BaseStyle is what all pages look like.
func BaseStyle() template.CSS { return template.CSS(baseStyle) }

// PageTemplate is that of a page. Text can show a [Grid] by {{template "table" .}}. It panics
// if the text is no template.
func PageTemplate(text string) *template.Template {
	return template.Must(template.Must(template.New("page").Parse(tableTemplate)).Parse(text))
}
