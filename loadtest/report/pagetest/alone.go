package pagetest

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
)

// Elements goes over the elements of a page and fails if one is not closed where it should
// be.
func Elements(t *testing.T, page string, each func(name string, attributes map[string]string)) {
	t.Helper()
	empty := []string{"meta", "br", "hr", "img", "input", "link"}
	var open []string
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				t.Fatal(z.Err())
			}
			if len(open) > 0 {
				t.Errorf("left open: %v", open)
			}
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			attributes := map[string]string{}
			for _, a := range token.Attr {
				if _, twice := attributes[a.Key]; twice {
					t.Errorf("%s has %s twice", token.Data, a.Key)
				}
				attributes[a.Key] = a.Val
			}
			each(token.Data, attributes)
			if token.Type == html.StartTagToken && !slices.Contains(empty, token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			token := z.Token()
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> closes %v", token.Data, open[max(0, len(open)-5):])
			}
			open = open[:len(open)-1]
		}
	}
}

var number = regexp.MustCompile(`NaN|[+-]?Inf`)

// Alone fails if a page is not whole, has a script, wants anything from elsewhere, draws at
// places that are no numbers, links to what is not there, or shows a picture without words.
// Pictures may hold images if those are part of the page.
func Alone(t *testing.T, page string) {
	t.Helper()
	ids, links := map[string]bool{}, []string{}
	Elements(t, page, func(element string, attributes map[string]string) {
		switch element {
		case "script", "link", "img", "iframe", "object", "embed", "use", "b" + "ase":
			t.Errorf("the page has a %s", element)
		case "image":
			if !strings.HasPrefix(attributes["href"], "data:image/png;base64,") {
				t.Errorf("an image of %.60q", attributes["href"])
			}
			delete(attributes, "href")
		case "svg":
			if attributes["role"] == "img" && attributes["aria-label"] == "" {
				t.Error("a picture without words")
			}
		}
		for key, value := range attributes {
			if strings.HasPrefix(key, "on") || key == "src" || key == "srcset" || strings.Contains(value, "url(") {
				t.Errorf("%s has %s=%q", element, key, value)
			}
			if key == "href" {
				links = append(links, value)
			}
			if (key == "d" || key == "x" || key == "y" || key == "width" || key == "height") && number.MatchString(value) {
				t.Errorf("%s has %s=%.80q", element, key, value)
			}
		}
		if id := attributes["id"]; id != "" {
			if ids[id] {
				t.Errorf("id %s comes twice", id)
			}
			ids[id] = true
		}
	})
	for _, link := range links {
		if !strings.HasPrefix(link, "#") || !ids[link[1:]] {
			t.Errorf("a link to %s", link)
		}
	}
	for _, bad := range []string{"http:", "https:", "@import", "ZgotmplZ"} {
		if at := strings.Index(page, bad); at >= 0 {
			t.Errorf("%s in %.60q", bad, page[at:])
		}
	}
	if at := strings.IndexFunc(page, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); at >= 0 {
		t.Errorf("a control character in %.60q", page[at:])
	}
	for _, want := range []string{`<meta name="viewport"`, `<html lang="en">`, "default-src 'none'"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
}
