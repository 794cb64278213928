package page

import (
	_ "embed"
	"html/template"
)

//go:embed page.css
var style string

//go:embed table.html
var table string

// Style is what all pages look like.
func Style() template.CSS { return template.CSS(style) }

// Template is that of a page. Text can show a [Grid] by {{template "table" .}}. It panics
// if the text is no template.
func Template(text string) *template.Template {
	return template.Must(template.Must(template.New("page").Parse(table)).Parse(text))
}
