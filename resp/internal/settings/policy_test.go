package settings

import "testing"

func TestParsePolicy(t *testing.T) {
	for p := range policies {
		if got, ok := ParsePolicy(p.String()); !ok || got != p {
			t.Errorf("%s: %v, %v", p, got, ok)
		}
	}
	for name, want := range map[string]bool{"": true, "AllKeys-LRU": true, "lru": false, "noeviction ": false} {
		if _, ok := ParsePolicy(name); ok != want {
			t.Errorf("%q: %v", name, ok)
		}
	}
	if n := len(PolicyNames()); n != int(policies) {
		t.Errorf("%d names", n)
	}
}
