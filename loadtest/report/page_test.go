package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"
)

// eachElement goes over the elements of a page and fails if one is not closed where it should
// be.
func eachElement(t *testing.T, page string, each func(name string, attributes map[string]string)) {
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

// checkAlone fails if a page is not whole, has a script, wants anything from elsewhere, draws at
// places that are no numbers, links to what is not there, or shows a picture without words.
// Pictures may hold images if those are part of the page.
func checkAlone(t *testing.T, page string) {
	t.Helper()
	ids, links := map[string]bool{}, []string{}
	eachElement(t, page, func(element string, attributes map[string]string) {
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

// probe reports how wide the page is, how wide its window, and what sticks out of it outside of
// the boxes that scroll.
const probe = `<script>
addEventListener("load", () => {
const wide = document.documentElement.scrollWidth, seen = document.documentElement.clientWidth;
const out = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > seen + 1 && !e.closest(".scroll, .nodes, svg"));
parent.document.body.setAttribute("data-probe-" + seen, wide + " " + out.length + " " + (out[0] ? out[0].tagName : ""));
});
</script>`

// Widths of what pages are shown on.
const (
	phoneWidth = 390
	paperWidth = 720 // with the style of what is printed
	deskWidth  = 1280
)

// checkFits fails if a page is wider than the windows it is shown in, in a real browser. The test
// is skipped where there is none, and in short runs.
func checkFits(t *testing.T, page string, widths ...int) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip(err)
	}
	page = regexp.MustCompile(`default-src 'none'[^"]*`).ReplaceAllString(page, "default-src * data: 'unsafe-inline'")
	page = strings.Replace(page, "</body>", probe+"</body>", 1)
	// Browsers keep their windows from being as narrow as a phone; frames can be.
	var frames strings.Builder
	for _, width := range widths {
		shown := page
		if width == paperWidth {
			shown = strings.ReplaceAll(page, "@media print", "@media all")
		}
		fmt.Fprintf(&frames, `<iframe width="%d" height="900" style="border:0" srcdoc="%s"></iframe>`, width, html.EscapeString(shown))
	}
	file := filepath.Join(t.TempDir(), "frames.html")
	if err := os.WriteFile(file, []byte("<!DOCTYPE html><meta charset=utf-8><body>"+frames.String()+"</body>"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+file).Output()
	if err != nil {
		t.Skipf("chromium does not run here: %v", err)
	}
	for _, width := range widths {
		m := regexp.MustCompile(fmt.Sprintf(`data-probe-%d="(\d+) (\d+) (\w*)"`, width)).FindSubmatch(out)
		if m == nil {
			t.Fatalf("at %d: no answer in %d bytes", width, len(out))
		}
		if string(m[1]) != strconv.Itoa(width) || string(m[2]) != "0" {
			t.Errorf("at %d: %s wide, %s elements stick out, the first a %s", width, m[1], m[2], m[3])
		}
	}
}
