package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
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

var dataOfPage = regexp.MustCompile(`(?s)<script id="data" type="application/json">(.*?)</script>`)

// checkAlone fails if a page is not whole or wants anything from elsewhere, and returns its data.
func checkAlone(t *testing.T, text string) *page {
	t.Helper()
	scripts := 0
	eachElement(t, text, func(element string, attributes map[string]string) {
		switch element {
		case "script":
			scripts++
		case "link", "img", "iframe", "object", "embed", "use", "b" + "ase":
			t.Errorf("the page has a %s", element)
		}
		for key := range attributes {
			if strings.HasPrefix(key, "on") || key == "src" || key == "srcset" || key == "href" {
				t.Errorf("%s has %s", element, key)
			}
		}
	})
	if scripts != 2 {
		t.Errorf("%d scripts, want the data and the code", scripts)
	}
	shown := dataOfPage.FindStringSubmatch(text)
	if shown == nil {
		t.Fatal("no data")
	}
	p := &page{}
	if err := json.Unmarshal([]byte(shown[1]), p); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"http:", "https:", "@import", "ZgotmplZ", "<script>alert"} {
		if at := strings.Index(shown[1], bad); at >= 0 {
			t.Errorf("%s in %.60q", bad, shown[1][at:])
		}
	}
	if at := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); at >= 0 {
		t.Errorf("a control character in %.60q", text[at:])
	}
	for _, want := range []string{`<meta name="viewport"`, `<html lang="en">`, "default-src &#39;none&#39;; style-src", "script-src &#39;sha256-"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	return p
}

// texts are all texts of a page's tables, by section.
func texts(p *page, section string) string {
	var b strings.Builder
	for _, s := range p.Sections {
		if s.ID != section {
			continue
		}
		for _, part := range s.Parts {
			fmt.Fprintln(&b, part.Title, part.Help, part.Terms)
			if part.Table != nil {
				fmt.Fprintln(&b, part.Table.Head)
				for _, row := range part.Table.Rows {
					for _, c := range row {
						fmt.Fprint(&b, c.Text, " ", c.Soft, "|")
					}
					fmt.Fprintln(&b)
				}
			}
		}
	}
	return b.String()
}

func TestContestantsHaveColorsOfTheirOwn(t *testing.T) {
	var many []string
	for i := range 32 {
		many = append(many, fmt.Sprintf("vnode:%d", i+1))
	}
	seen := map[int]bool{}
	for _, c := range colors(many) {
		if seen[c] {
			t.Errorf("colour %d comes twice", c)
		}
		seen[c] = true
	}
	if got := colors([]string{"mod", "vnode:16", "buckets", "other"}); fmt.Sprint(got) != "[11 2 0 1]" {
		t.Errorf("%v", got)
	}
}

// Lines and areas differ from the page at least 3 : 1 in light and in dark, and no node has the
// colour of a contestant.
func TestColorsHaveContrast(t *testing.T) {
	luminance := func(hex string) float64 {
		n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, weight := range []float64{0.0722, 0.7152, 0.2126} {
			c := float64(n>>(8*i)&255) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	contrast := func(a, b string) float64 {
		x, y := luminance(a)+0.05, luminance(b)+0.05
		return max(x, y) / min(x, y)
	}
	schemes := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(pageStyle, -1)
	if len(schemes) != 2 {
		t.Fatalf("%d schemes", len(schemes))
	}
	variables := map[string]string{}
	for i, scheme := range schemes {
		for _, v := range regexp.MustCompile(`(--\w+): (#\w{6})`).FindAllStringSubmatch(scheme[1], -1) {
			variables[v[1]] = v[2]
		}
		count, seen := 0, map[string]string{}
		for name, color := range variables {
			least := 3.0
			switch {
			case regexp.MustCompile(`^--[cn]\d+$`).MatchString(name):
				count++
				if other := seen[color]; other != "" {
					t.Errorf("%s and %s are alike", name, other)
				}
				seen[color] = name
			case name == "--text" || name == "--soft":
				least = 4.5
			case name != "--stall":
				continue
			}
			if got := contrast(color, variables["--page"]); got < least {
				t.Errorf("scheme %d: %s has a contrast of %.2f", i, name, got)
			}
		}
		if count != 24+64 {
			t.Errorf("%d colours", count)
		}
	}
}

func TestThinLinesKeepPeaksAndDips(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 999, 1000, 1001, 12_345, 864_000} {
		points := make([]point, n)
		for i := range points {
			points[i] = point{float64(i), 10 + float64(i*7919%1000)/1000}
		}
		if n > 10 {
			points[n/3].Y, points[n/2].Y, points[n/7].Y = 99, 1, math.NaN()
		}
		left := thin(points, 1000)
		if len(left) > 1000 || n <= 1000 && len(left) != n {
			t.Errorf("%d of %d are left", len(left), n)
		}
		low, high := math.Inf(1), math.Inf(-1)
		for i, p := range left {
			if i > 0 && p.X <= left[i-1].X {
				t.Fatalf("of %d: %v comes after %v", n, p, left[i-1])
			}
			low, high = min(low, p.Y), max(high, p.Y)
		}
		if n > 1001 && (low != 1 || high != 99) {
			t.Errorf("of %d, from 1 to 99, those from %v to %v are left", n, low, high)
		}
	}
}

func TestThinLinesKeepGaps(t *testing.T) {
	points := make([]point, 10_000)
	for i := range points {
		points[i] = point{float64(i), 1}
		if i >= 4000 && i < 6000 {
			points[i].Y = math.NaN()
		}
	}
	if !slices.ContainsFunc(thin(points, 100), func(p point) bool { return math.IsNaN(p.Y) }) {
		t.Error("the gap is gone")
	}
}

func TestValuesAreJSON(t *testing.T) {
	all := values{0, 1.5, math.NaN(), math.Inf(1), 123456.7, 1e-9, -2, 1e300}
	text, err := json.Marshal(all)
	if want := `[0,1.5,null,null,123457,1e-09,-2,1e+300]`; err != nil || string(text) != want {
		t.Errorf("%s, want %s (%v)", text, want, err)
	}
}
