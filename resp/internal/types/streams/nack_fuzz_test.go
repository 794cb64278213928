package streams

import (
	"bytes"
	"testing"
)

// FuzzNack has the arguments of XNACK parsed from any words: there is an error reply or as many IDs as IDS
// says, and nothing takes more memory than the words.
func FuzzNack(f *testing.F) {
	for _, seed := range []string{
		"FAIL IDS 1 1-1", "silent FORCE IDS 2 1 2 RETRYCOUNT 5", "FATAL IDS 3 1 2", "FAIL IDS 9223372036854775807 1", "FAIL IDS 1 1 IDS 1 2", "FAIL RETRYCOUNT", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		words := bytes.Split(text, []byte(" "))
		n, msg := parseNack(words)
		if msg == "" && (len(n.ids) == 0 || len(n.ids) > len(words)-3 || n.count < -1) {
			t.Errorf("%q: %+v", words, n)
		}
	})
}
