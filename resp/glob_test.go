package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/glob"
)

func TestGlobMatch(t *testing.T) {
	for _, test := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true},
		{"", "a", false},
		{"a", "", false},
		{"*", "", true},
		{"**", "", true},
		{"*", "abc", true},
		{"a*", "a", true},
		{"a**", "a", true},
		{"*c", "abcbc", true},
		{"*b*", "abc", true},
		{"*b", "abc", false},
		{"a*b*c", "aXbYbZc", true},
		{"a*b*c", "aXbYbZ", false},
		{"?", "a", true},
		{"?", "", false},
		{"a?c", "abc", true},
		{"??", "a", false},
		{"[abc]", "b", true},
		{"[abc]", "d", false},
		{"[^abc]", "d", true},
		{"[^abc]", "a", false},
		{"[a-c]x", "bx", true},
		{"[c-a]x", "bx", true},
		{"[a-c]", "d", false},
		{"[a-]", "]", true}, // a range that ends with ]
		{"[a-]", "^", true},
		{"[]", "a", false},
		{"[^]", "a", true},
		{"[", "a", false},
		{"[", "[", false},
		{"[^", "a", true},
		{"[ab", "b", true},
		{"[^ab", "c", true},
		{`[\]]`, "]", true},
		{`[\-x]`, "-", true},
		{`[\`, `\`, true},
		{`\*`, "*", true},
		{`\*`, "a", false},
		{`\`, `\`, true},
		{`a\`, `a\`, true},
		{`a\`, "a", false},
		{`\a`, "a", true},
		{"h*llo\x00*", "heello\x00x", true},
		{"\xff?", "\xff\xfe", true},
		{"GET", "get", false},
	} {
		if got := glob.Match([]byte(test.pattern), []byte(test.s), false); got != test.want {
			t.Errorf("globMatch(%q, %q) = %v", test.pattern, test.s, got)
		}
	}
	for _, test := range []struct {
		pattern, s string
		want       bool
	}{
		{"GET*", "getex", true},
		{"[A-C]*", "bar", true},
		{"[abc]", "B", true},
		{`\A`, "a", true},
		{`[\A]`, "a", false},
		{"Ä", "ä", false},
	} {
		if got := glob.Match([]byte(test.pattern), []byte(test.s), true); got != test.want {
			t.Errorf("globMatch(%q, %q, fold) = %v", test.pattern, test.s, got)
		}
	}
}

// A pattern with many stars once took exponential time in Redis.
func TestGlobMatchManyStars(t *testing.T) {
	pattern := []byte(strings.Repeat("a*", 5000) + "b")
	s := []byte(strings.Repeat("a", 10000))
	// In exponential time, it would not end before the test binary's timeout.
	if glob.Match(pattern, s, false) {
		t.Error("matches")
	}
}

// TestGlobAgainstRedis asks Redis whether KEYS finds a key by the pattern.
func TestGlobAgainstRedis(t *testing.T) {
	o := resptest.Dial(t, redistest.Start7(t), 3)
	keys := []string{"a", "b", "ab", "abc", "]", "^", "-", `\`, "[a]", "a-c", "A", "*", "é"}
	for _, key := range keys {
		o.Do("SET", key, "")
	}
	for _, pattern := range []string{
		"*", "**", "a*", "?", "??", "*b*", "[", "[^", "[a", "[^a", "[a-", "[a-]", "[-a]", "[a-c]", "[c-a]",
		"[]", "[^]", "[]a]", `[\]]`, `[\`, `\`, `a\`, `\*`, `[a\-c]`, `[\\-^]`, "[^-]", "[^a-z]", "[[]a]", "[[]*", "[a-c", "[^a-",
	} {
		want := map[string]bool{}
		for _, key := range o.Do("KEYS", pattern).Elems {
			want[key.Text] = true
		}
		for _, key := range keys {
			if got := glob.Match([]byte(pattern), []byte(key), false); got != want[key] {
				t.Errorf("globMatch(%q, %q) = %v; not so Redis", pattern, key, got)
			}
		}
	}
}

// FuzzGlobMatch compares with a matcher that tries everything.
func FuzzGlobMatch(f *testing.F) {
	for _, pattern := range []string{"a*b?[c-d]", `\*[^\]x]*`, "[a-", "*a*a*b", "[^", "[a-]]b"} {
		f.Add([]byte(pattern), []byte("aab*c]d"), false)
		f.Add([]byte(pattern), []byte("AaB"), true)
	}
	f.Fuzz(func(t *testing.T, pattern, s []byte, fold bool) {
		if len(pattern) > 64 || len(s) > 64 {
			return
		}
		if got, want := glob.Match(pattern, s, fold), globOracle(pattern, s, fold); got != want {
			t.Errorf("globMatch(%q, %q, %v) = %v", pattern, s, fold, got)
		}
	})
}

// globOracle reads the pattern into the set of bytes that each element matches,
// nil for a star, and then keeps, byte by byte, every place of the pattern that
// could have been reached.
func globOracle(pattern, s []byte, fold bool) bool {
	type set = map[byte]bool
	var elems []set
	add := func(in set, from, to int) {
		for c := range 256 {
			x := c
			if fold && 'A' <= c && c <= 'Z' {
				x = c + 32
			}
			if from <= x && x <= to {
				in[byte(c)] = true
			}
		}
	}
	one := func(c byte) int {
		if fold && 'A' <= c && c <= 'Z' {
			return int(c) + 32
		}
		return int(c)
	}
	for len(pattern) > 0 {
		c := pattern[0]
		pattern = pattern[1:]
		in := set{}
		switch {
		case c == '*':
			in = nil
		case c == '?':
			add(in, 0, 255)
		case c == '[':
			not := len(pattern) > 0 && pattern[0] == '^'
			if not {
				pattern = pattern[1:]
			}
			for {
				if len(pattern) == 0 {
					break
				}
				c := pattern[0]
				pattern = pattern[1:]
				if c == ']' {
					break
				}
				if c == '\\' && len(pattern) > 0 {
					in[pattern[0]] = true
					pattern = pattern[1:]
				} else if len(pattern) >= 2 && pattern[0] == '-' {
					a, b := c, pattern[1]
					pattern = pattern[2:]
					add(in, one(min(a, b)), one(max(a, b)))
				} else {
					add(in, one(c), one(c))
				}
			}
			if not {
				out := set{}
				for c := range 256 {
					if !in[byte(c)] {
						out[byte(c)] = true
					}
				}
				in = out
			}
		default:
			if c == '\\' && len(pattern) > 0 {
				c = pattern[0]
				pattern = pattern[1:]
			}
			add(in, one(c), one(c))
		}
		elems = append(elems, in)
	}

	skipStars := func(at map[int]bool) {
		for p := range len(elems) {
			if at[p] && elems[p] == nil {
				at[p+1] = true
			}
		}
	}
	at := map[int]bool{0: true}
	skipStars(at)
	for _, c := range s {
		next := map[int]bool{}
		for p := range at {
			switch {
			case p == len(elems):
			case elems[p] == nil:
				next[p] = true
			case elems[p][c]:
				next[p+1] = true
			}
		}
		skipStars(next)
		at = next
	}
	return at[len(elems)]
}
