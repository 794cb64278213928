package wire

import (
	"errors"
	"fmt"
	"testing"
)

func TestRepliesInMemory(t *testing.T) {
	const nested = "*3\r\n*2\r\n:1\r\n$2\r\nab\r\n%1\r\n+k\r\n_\r\n$-1\r\n"
	for text, want := range map[string]int{
		nested + ":7\r\n":                 len(nested),
		"$3\r\nabc\r\n:1\r\n":             9,
		"$-1\r\n:1\r\n":                   5,
		"$9\r\nabc":                       7,
		"$9223372036854775807\r\nabc\r\n": 27,
		":12\r\nx":                        5,
		"*9\r\n:1\r\n":                    8,
		"x":                               1,
		"\n\n":                            2,
		"":                                0,
	} {
		if got := ValueLen([]byte(text)); got != want {
			t.Errorf("%q is %d bytes long, not %d", text, got, want)
		}
	}
	body, ok := ArrayBody([]byte(nested))
	if n := ArrayLen([]byte(nested)); !ok || n != 3 || ValuesLen(body, n) != len(body) {
		t.Errorf("%d elements, %q", n, body)
	}
	for text, want := range map[string]string{"$2\r\nab\r\n": "ab", "$0\r\n\r\n": "", "$-1\r\n": "-", "$9\r\nab\r\n": "-", ":1\r\n": "-", "$": "-", "": "-"} {
		got, ok := ReplyText([]byte(text))
		if string(got) != want && (ok || want != "-") {
			t.Errorf("%q: %q, %t", text, got, ok)
		}
	}
	for text, want := range map[string]int64{":-12\r\n": -12, ":0\r\n": 0, "+1\r\n": -1, ":\r\n": -1, ":x\r\n": -1, "": -1} {
		if n, ok := ReplyInt([]byte(text)); n != want && (ok || want != -1) {
			t.Errorf("%q: %d, %t", text, n, ok)
		}
	}
	for _, text := range []string{"", "\n", "\r\n", "*", "*x\r\n", "*-1\r\n"} {
		if n := ArrayLen([]byte(text)); n != 0 {
			t.Errorf("%q has %d elements", text, n)
		}
		_, _ = ArrayBody([]byte(text))
	}
}

// Each value is parsed only once all of it is there, and not beyond its end.
func TestValuesAreParsedOnceComplete(t *testing.T) {
	for raw, want := range map[string]string{
		"+OK\r\n": "+ OK 0", "-ERR no\r\n": "- ERR no 0", ":-42\r\n": ": -42 -42", ",1.5\r\n": ", 1.5 0", "(12\r\n": "( 12 0",
		"#t\r\n": "# t 1", "#f\r\n": "# f 0", "_\r\n": "_ null", "$-1\r\n": "$ null", "*-1\r\n": "* null",
		"$4\r\na\r\nb\r\n": "$ a\r\nb 4", "$0\r\n\r\n": "$  0", "!5\r\nERR a\r\n": "! ERR a 5", "=5\r\ntxt:a\r\n": "= txt:a 5",
		"*2\r\n": "* 2 2 +2", "%2\r\n": "% 2 2 +4", "~0\r\n": "~ 0 0", ">3\r\n": "> 3 3 +3", "|1\r\n": "| 1 1 +2",
	} {
		for n := range raw {
			if h, size, err := ParseValue([]byte(raw[:n])); size != 0 || err != nil {
				t.Errorf("%q: %v %d %v", raw[:n], h, size, err)
			}
		}
		h, size, err := ParseValue([]byte(raw + "+more\r\n"))
		got := fmt.Sprintf("%c null", h.Kind)
		if !h.Null {
			got = fmt.Sprintf("%c %s %d", h.Kind, h.Text, h.N)
		}
		if n := h.Values(); n > 0 {
			got += fmt.Sprintf(" +%d", n)
		}
		if got != want || size != len(raw) || err != nil {
			t.Errorf("%q: %q, %d, %v; want %q", raw, got, size, err, want)
		}
	}
	for _, raw := range []string{"\r\n", "OK\r\n", "+OK\n", "$-2\r\n", "=-1\r\n", "%-1\r\n", "$3\r\nabcd\r\n", "#y\r\n", "_x\r\n", ":\r\n", ":01\r\n", "x"} {
		if h, size, err := ParseValue([]byte(raw)); !errors.Is(err, ErrReply) {
			t.Errorf("%q: %v %d %v", raw, h, size, err)
		}
	}
}
