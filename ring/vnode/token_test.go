package vnode

import (
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

var _ ring.TokenFunc = Token

func TestHashVector(t *testing.T) {
	if got := hash([]byte("hello")); int32(got) != 1383330446 {
		t.Errorf("hash(hello) = %d, want 1383330446", int32(got))
	}
}

func TestTokenOrderIsSignedOrder(t *testing.T) {
	if got, want := Token([]byte("hello")), ring.Token(1383330446+1<<31); got != want {
		t.Errorf("Token(hello) = %d, want %d", got, want)
	}
	keys := []string{"", "a", "b", "hello", "user:1", "user:2", "ключ"}
	for _, a := range keys {
		for _, b := range keys {
			signed := int32(hash([]byte(a))) < int32(hash([]byte(b)))
			if tokens := Token([]byte(a)) < Token([]byte(b)); tokens != signed {
				t.Errorf("%q before %q: %v as tokens, %v as signed hashes", a, b, tokens, signed)
			}
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
