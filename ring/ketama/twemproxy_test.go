package ketama

import (
	"bufio"
	"bytes"
	"os"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// The keys and servers were read back from real servers behind twemproxy 0.5.0.
func TestKeysLieWhereTwemproxySendsThem(t *testing.T) {
	text, err := os.ReadFile("testdata/ketama-equal-3.tsv")
	if err != nil {
		t.Fatal(err)
	}
	members := []ring.Member{{ID: "node-a", Weight: 1}, {ID: "node-b", Weight: 1}, {ID: "node-c", Weight: 1}}
	for _, rule := range Rules() { // which agree on three servers
		s := mustNew(t, Config{Rule: rule})
		p := mustPlace(t, s, ring.Input{Members: members})
		n := 0
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); n++ {
			key, want, _ := bytes.Cut(lines.Bytes(), []byte("\t"))
			if got := p.Lookup(s.Token(key)).Primary; got != string(want) {
				t.Errorf("%s: %q is at %s, want %s", rule, key, got, want)
			}
		}
		if n != 2000 {
			t.Errorf("%d keys", n)
		}
	}
}
