package node

import (
	"testing"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/vnode"
)

func TestTokenFunc(t *testing.T) {
	key := []byte("a{tag}b")
	for _, tt := range []struct {
		strategy, hash string
		want           ring.TokenFunc
	}{
		{"buckets", "native", buckets.Token},
		{"ketama", "native", ketama.Token},
		{"vnode", "native", vnode.Token},
		{"buckets", "slot", ring.SlotToken},
		{"ketama", "slot", ring.SlotToken},
		{"vnode", "slot", ring.SlotToken},
	} {
		f, err := tokenFunc(tt.strategy, tt.hash)
		if err != nil {
			t.Fatal(err)
		}
		if f(key) != tt.want(key) {
			t.Errorf("%s, %s: another function's token", tt.strategy, tt.hash)
		}
	}
	for _, names := range [][2]string{{"", "native"}, {"Ketama", "native"}, {"ketama", ""}, {"ketama", "crc16"}} {
		if f, err := tokenFunc(names[0], names[1]); err == nil || f != nil {
			t.Errorf("tokenFunc(%q, %q) = %v", names[0], names[1], err)
		}
	}
}
