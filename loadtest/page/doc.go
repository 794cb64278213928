// Package page has what pages of HTML that show reports have in common: their style, for
// light and dark, for desks, phones and paper, and their tables, which it also writes as
// Markdown.
//
// It does not own what stands on a page. A page of it needs nothing from elsewhere.
package page
