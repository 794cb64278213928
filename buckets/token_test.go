package buckets

import (
	"hash/fnv"
	"math/bits"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

var _ ring.TokenFunc = Token

func TestFNV1aVectors(t *testing.T) {
	for _, tt := range []struct {
		key  string
		want uint64
	}{
		{"something", 0xeafd7ee0e2b3d12b},
		{"ключ", 0x296130de6f5b7a81}, // bytes are unsigned
	} {
		if got := fnv1a([]byte(tt.key)); got != tt.want {
			t.Errorf("fnv1a(%q) = %#x, want %#x", tt.key, got, tt.want)
		}
		if got, want := Token([]byte(tt.key)), ring.Token(bits.Reverse32(uint32(tt.want))); got != want {
			t.Errorf("Token(%q) = %#x, want %#x", tt.key, got, want)
		}
	}
}

func FuzzFNV1aIsTheStandardLibrarys(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("\xff\x00key"))
	f.Fuzz(func(t *testing.T, b []byte) {
		std := fnv.New64a()
		std.Write(b)
		if got, want := fnv1a(b), std.Sum64(); got != want {
			t.Fatalf("%q: %#x, want %#x", b, got, want)
		}
	})
}

func TestTokenHashesOnlyTheTag(t *testing.T) {
	if Token([]byte("a{tag}b")) != Token([]byte("tag")) {
		t.Error("the tag alone has another token")
	}
}

// A bucket id under a mask of low ones is the range of all tokens whose leading
// bits are the id reversed.
func TestBucketIsOneRange(t *testing.T) {
	for _, key := range []string{"", "a", "user:1", "something", "ключ"} {
		hash := uint32(fnv1a([]byte(key)))
		for _, width := range []int{4, 8, 12, 16} {
			id := hash & (1<<width - 1)
			start := bits.Reverse32(id)
			if got := uint32(Token([]byte(key))) >> (32 - width) << (32 - width); got != start {
				t.Errorf("%q, %d bits: range starts at %#x, want %#x", key, width, got, start)
			}
		}
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
