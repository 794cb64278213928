package path

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/internal/types/json/document"
)

func parsed(t testing.TB, s string) *document.Value {
	t.Helper()
	v, err := document.Parse([]byte(s), nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// FuzzCompile has no path take long, and no query find what is not below the root.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"$", ".", "", "$.a", "a.b[0]", "$..a", "$..*", "$['a','b']", `$["a\"b"]`, "$[0,-1]", "$[1:5:2]", "$[::]", "$[?(@.a>1 && (@.b || !@.c))]",
		"$..[?@..a==$.b]", `$[?(@.a=~"^x")]`, "$[?(@==[1,{\"a\":2}])]", "$[", "$.", "$[?", "$[?(((((((", "$[?!!!!!!!!!@]", "$x", "$.\xff", "$..", "$[9999999999999999999]",
	} {
		f.Add(s)
	}
	root := parsed(f, `{"a":[1,2,{"a":"x","b":null}],"b":{"a":{"a":[[]]}},"c":true}`)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Compile(text, nil)
		var syntax *SyntaxError
		if err != nil {
			if !errors.As(err, &syntax) {
				t.Fatal(err)
			}
			return
		}
		found, err := q.Select(root, func(int64) bool { return true })
		if err != nil && !errors.Is(err, ErrSteps) {
			t.Fatal(err)
		}
		for _, m := range found {
			if m.Value == nil || m.Depth == 0 != (m.Value == root) {
				t.Fatalf("%s found %v at %d", text, m.Value, m.Depth)
			}
		}
		if parent, _, ok := q.Parent(); ok {
			around, err := parent.Select(root, nil)
			if err != nil || len(found) > 1 || len(found) == 1 && len(around) != 1 {
				t.Fatalf("%s: %d in %d, %v", text, len(found), len(around), err)
			}
		}
	})
}

func TestQueriesAreBounded(t *testing.T) {
	deep := parsed(t, strings.Repeat(`{"a":[`, 60)+strings.Repeat(`]}`, 60))
	wide := parsed(t, "["+strings.Repeat(`{"a":1},`, 20_000)+"1]")
	for _, text := range []string{
		"$" + strings.Repeat("..*", 30),                                    // ways through 120 levels
		"$" + strings.Repeat("..[*,*]", 20),                                // twice each
		"$..[?@..[?@..[?@..[?@..[?@..[?@..[?@..[?@..zz]]]]]]]]",            // filters in filters
		"$[" + strings.Repeat("*,", 5000) + "*]",                           // 10^8 results
		"$[?" + strings.Repeat("$[?@.b]||", 1000) + "@.b]",                 // each for each
		"$[?" + strings.Repeat("@.a==2||", 5000) + "@.b]",                  // 10^8 comparisons
		"$[?$==$" + strings.Repeat("&&$==$", 5000) + "]",                   // of whole documents
		"$[?@.a=~" + `"` + strings.Repeat("(a|b)*", 100) + `"` + "||$==1]", // a large pattern
	} {
		q, err := Compile(text, nil)
		if err != nil {
			t.Errorf("%.40s: %v", text, err)
			continue
		}
		for _, root := range []*document.Value{deep, wide} {
			taken := int64(0)
			found, err := q.Select(root, func(n int64) bool {
				taken += n
				return taken < 64<<20
			})
			if err != nil && !errors.Is(err, ErrSteps) && !errors.Is(err, ErrMemory) || int64(len(found)) > 2<<20 {
				t.Errorf("%.40s: %d found, %v", text, len(found), err)
			}
		}
	}
	for name, text := range map[string]string{
		"long":    "$." + strings.Repeat("a", MaxText),
		"nested":  "$[?" + strings.Repeat("(", 1_000) + "@" + strings.Repeat(")", 1_000) + "]",
		"not":     "$[?" + strings.Repeat("!", 10_000) + "@]",
		"filters": strings.Repeat("$[?", 10_000),
		"pattern": fmt.Sprintf(`$[?@=~"%s"]`, strings.Repeat("a", 2_000)),
		"number":  fmt.Sprintf("$[%d0]", int64(math.MaxInt64)),
	} {
		var syntax *SyntaxError
		if _, err := Compile(text, nil); !errors.As(err, &syntax) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
