package members

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

func TestValidateReportsEveryFault(t *testing.T) {
	cfg := Config{
		ID: "a/b", Role: "king", Weight: -1, Cluster: strings.Repeat("c", 65),
		BusAddr: ":1", ClientAddr: "x", BindAddr: "127.0.0.1:70000", Advertise: "a:0", Join: []string{"ok", "a:b"},
		Timing: Timing{ProbeInterval: -time.Second},
	}
	cfg.EnsureDefaults()
	err := cfg.Validate()
	if err == nil {
		t.Fatal("no fault")
	}
	for _, want := range []string{
		`"a/b"`, `"king"`, "-1 is not above 0", "65 bytes", "no strategy", "no hash", "bus address", "client address",
		"gossip address", "advertised address", "address to join", "probe interval", "suspicion multiplier", "gossip interval",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
	if _, err := Open(cfg); err == nil {
		t.Error("it opens")
	}
}

func TestValidateNeedsAnAddressToTell(t *testing.T) {
	cfg := testConfig(t, "a", 1)
	cfg.EnsureDefaults()
	cfg.BindAddr = "[::]:7"
	if err := cfg.Validate(); err == nil {
		t.Error("every IPv6 interface without an address for others")
	}
	cfg.Advertise = "10.0.0.1"
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}

func TestOpenReportsAPortInUse(t *testing.T) {
	a := start(t, "a", 1)
	cfg := testConfig(t, "b", 1)
	cfg.BindAddr = addr(a)
	if _, err := Open(cfg); err == nil || !strings.Contains(err.Error(), addr(a)) {
		t.Error(err)
	}
}

func TestAdvertisedAddressIsGossiped(t *testing.T) {
	cfg := testConfig(t, "a", 1)
	cfg.Advertise, cfg.Resolver = "pod.example:77", newNames()
	cfg.Resolver.(*names).set("pod.example", "10.1.2.3")
	if got := addr(open(t, cfg)); got != "10.1.2.3:77" {
		t.Errorf("it is told to be at %s", got)
	}
}

func TestKeyIsDerivedUnderAFixedLabel(t *testing.T) {
	if key, err := gossipKey(nil); err != nil || key != nil {
		t.Errorf("no key becomes %x, %v", key, err)
	}
	a, err := gossipKey([]byte("secret"))
	if err != nil || len(a) != 32 {
		t.Fatalf("%x, %v", a, err)
	}
	if b, _ := gossipKey([]byte("secret ")); bytes.Equal(a, b) {
		t.Error("two keys become one")
	}
	// Another build must derive the same.
	if got := hex.EncodeToString(a); got != "a68f15d9d7241250e3678e2a514ef5d7f611157c7a5913818306d92f69bdd14d" {
		t.Errorf("key is %s", got)
	}
}
