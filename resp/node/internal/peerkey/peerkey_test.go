package peerkey

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPasswordKeyIsSlowAndTheSameOnAllNodes(t *testing.T) {
	began := time.Now()
	key, err := FromPassword("secret", "ringside")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("derived in %v", time.Since(began))
	// It must never change: nodes of two versions would refuse each other.
	if got := fmt.Sprintf("%x", key); got != "a5d30cb772fea0a5714c9702462798e405e7dc0121687388f08018da373e6b72" {
		t.Errorf("the key is %s", got)
	}
}

func TestKeyFileIsKeptAndReadableByItsOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	key, err := FromFile(dir)
	if err != nil || len(key) != 64 {
		t.Fatalf("%q, %v", key, err)
	}
	path := filepath.Join(dir, Name)
	for _, mode := range []os.FileMode{0o600, 0o660} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		again, err := FromFile(dir)
		if err != nil || string(again) != string(key) {
			t.Errorf("%q then %q, %v", key, again, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
	for _, text := range []string{"", "short", strings.Repeat("x", 64)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := FromFile(dir); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
