package show

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

func pageOf(t *testing.T, r *sim.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r, PageOptions{Command: "ringside simulate --node '<i>' --seed 1", Version: "v1.2.3"}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// elements goes over the elements of a page and fails if one is not closed where it
// should be.
func elements(t *testing.T, page string, each func(name string, attributes map[string]string)) {
	t.Helper()
	empty := []string{"meta", "br", "hr", "img", "input", "link"}
	var open []string
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
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

var number = regexp.MustCompile(`NaN|[+-]Inf`)

func TestPageIsWholeAndAlone(t *testing.T) {
	for name, r := range odd(t) {
		t.Run(name, func(t *testing.T) {
			page := pageOf(t, r)
			ids, links := map[string]bool{}, []string{}
			elements(t, page, func(element string, attributes map[string]string) {
				switch element {
				case "script", "link", "img", "iframe", "object", "embed", "image", "use", "b" + "ase":
					t.Errorf("the page has a %s", element)
				}
				for key, value := range attributes {
					if strings.HasPrefix(key, "on") || key == "src" || key == "srcset" || strings.Contains(value, "url(") {
						t.Errorf("%s has %s=%q", element, key, value)
					}
					if key == "href" {
						links = append(links, value)
					}
					if (key == "d" || key == "x" || key == "y") && number.MatchString(value) {
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
			if at := strings.Index(page, "http:"); at >= 0 {
				t.Errorf("%.60q", page[at:])
			}
			if strings.Contains(page, "https:") || strings.Contains(page, "@import") || strings.Contains(page, "<i>") {
				t.Error("something from elsewhere, or not escaped")
			}
			for _, want := range []string{`<meta name="viewport"`, `<html lang="en">`, "default-src 'none'", "v1.2.3", "--node &#39;&lt;i&gt;&#39; --seed 1"} {
				if !strings.Contains(page, want) {
					t.Errorf("no %s", want)
				}
			}
		})
	}
}

func TestPageHasEveryStepAndContender(t *testing.T) {
	r := recorded(t)
	page := pageOf(t, r)
	for _, c := range r.Contenders {
		if n := strings.Count(page, "<th scope=\"row\">"+c.Name+"</th>"); n != len(r.Steps) {
			t.Errorf("%s has %d rows in the steps, want %d", c.Name, n, len(r.Steps))
		}
		if !strings.Contains(page, "</svg> "+c.Name) || !strings.Contains(page, c.Title) {
			t.Errorf("%s is in no legend", c.Name)
		}
	}
	for i, step := range r.Steps {
		for _, want := range []string{fmt.Sprintf("<summary>Step %d: %s", i, step.Event), fmt.Sprintf("<summary>buckets, %d: %s</summary>", i, step.Event)} {
			if !strings.Contains(page, want) {
				t.Errorf("no %q", want)
			}
		}
	}
	pictures := strings.Count(page, `role="img"`)
	if labels := strings.Count(page, `role="img" aria-label="`); labels != pictures || pictures < 2+4+len(r.Steps) {
		t.Errorf("%d pictures, %d with a text", pictures, labels)
	}
	for _, columns := range [][][2]string{glossaryOf(0), glossaryOf(1)} {
		for _, c := range columns {
			if !strings.Contains(page, "<dt>"+c[0]+"</dt>") {
				t.Errorf("%s is not explained", c[0])
			}
		}
	}
	if strings.Contains(page, "ZgotmplZ") {
		t.Error("the template has refused a value")
	}
}

func glossaryOf(which int) [][2]string {
	steps, summary := Glossary()
	return [][][2]string{steps, summary}[which]
}

func TestPageStaysSmall(t *testing.T) {
	const most = 5 << 20
	for name, f := range map[string]fake{
		"1,000 nodes, 40 steps":       {nodes: 1000, steps: 40, seed: 1},
		"50 nodes with grids":         {nodes: 50, steps: 40, seed: 2},
		"2,000 steps":                 {nodes: 3, steps: 2000, seed: 3},
		"32 contenders, 100 steps":    {nodes: 20, steps: 100, seed: 4, contenders: strings.Fields(strings.Repeat("vnode:1 ketama:2 ", 16))},
		"long names, 64 nodes, grids": {nodes: 60, steps: 12, seed: 5, name: func(i int) string { return fmt.Sprintf("%0250d", i) }},
	} {
		page := pageOf(t, f.report())
		t.Logf("%s: %d kB", name, len(page)/1000)
		if len(page) > most {
			t.Errorf("%s: %d bytes", name, len(page))
		}
	}
}

func TestPictureIsOneSVG(t *testing.T) {
	for name, r := range odd(t) {
		var b, again bytes.Buffer
		if err := Picture(&b, r); err != nil {
			t.Fatal(err)
		}
		if err := Picture(&again, r); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: drawn again, it differs (%v)", name, err)
		}
		text := strings.Replace(b.String(), "http://www.w3.org/2000/svg", "", 1)
		if !strings.HasPrefix(text, `<svg xmlns=""`) || strings.Contains(text, "http") || number.MatchString(text) || strings.Contains(text, "<script") {
			t.Errorf("%s: %.300s", name, text)
		}
		elements(t, b.String(), func(string, map[string]string) {})
	}
}
