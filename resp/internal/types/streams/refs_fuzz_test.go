package streams

import (
	"bytes"
	"testing"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// FuzzRemoval has the arguments of XDELEX and XTRIM parsed from any words: there is an error reply or
// as many IDs as IDS says, and nothing takes more memory than the words.
func FuzzRemoval(f *testing.F) {
	for _, seed := range []string{"IDS 1 1-1", "ACKED IDS 2 1 2", "IDS 3 1 2", "IDS 9223372036854775807 1", "MAXLEN ~ 5 LIMIT 3 ACKED", "DELREF MINID 3-1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		words := bytes.Split(text, []byte(" "))
		x := &command.Call{Writer: new(wire.Writer)}
		_, ids, ok := parseRemoval(x, words)
		if ok != (len(x.Buf) == 0) || ok && (len(ids) == 0 || len(ids) > len(words)-2) {
			t.Errorf("%q: %v %v %q", words, ids, ok, x.Buf)
		}
		if o, _, msg := parseAddOptions(words, false, 100); msg == "" && !o.trims {
			t.Errorf("%q: %+v", words, o)
		}
	})
}
