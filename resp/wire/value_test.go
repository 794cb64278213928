package wire

import "testing"

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
