package ketama

import (
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

var _ ring.TokenFunc = Token

func TestTokenAgreesWithLibketama(t *testing.T) {
	for _, tt := range []struct {
		key  string
		want ring.Token
	}{
		{"foo", 3675831724},
		{"bar", 421377335},
		{"", 3649838548},
	} {
		if got := Token([]byte(tt.key)); got != tt.want {
			t.Errorf("Token(%q) = %d, want %d", tt.key, got, tt.want)
		}
	}
}

func TestTokenHashesOnlyTheTag(t *testing.T) {
	if Token([]byte("a{tag}b")) != Token([]byte("tag")) {
		t.Error("the tag alone has another token")
	}
}

func TestTokenAllocatesNothing(t *testing.T) {
	key := []byte("a{tag}b")
	if n := testing.AllocsPerRun(100, func() { Token(key) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkToken(b *testing.B) {
	key := []byte("key:000000123456")
	b.ReportAllocs()
	for b.Loop() {
		Token(key)
	}
}
