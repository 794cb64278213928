package zones

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/ring"
)

func TestZonesAreSetChangedAndRemoved(t *testing.T) {
	var values *agreed.Values
	if Any(values) || Of(values, "a") != "" || Member(values, ring.Member{ID: "a"}).Zone != "" {
		t.Error("there is a zone before one was set")
	}
	if _, ok := Set(values, "a", ""); ok {
		t.Error("no zone is a change of none")
	}
	version := uint64(7)
	set := func(node, zone string) {
		t.Helper()
		c, ok := Set(values, node, zone)
		if !ok || !Changed([]agreed.Change{{Name: "user/a"}, c}) {
			t.Fatalf("%+v is no change of a zone", c)
		}
		version++
		var err error
		if values, err = values.With([]agreed.Change{c}, version); err != nil {
			t.Fatal(err)
		}
		if _, again := Set(values, node, zone); again {
			t.Errorf("%s in zone %q is a change the second time", node, zone)
		}
		if got := Member(values, ring.Member{ID: node, Weight: 1}); got.Zone != zone || Of(values, node) != zone {
			t.Errorf("%+v, want zone %q", got, zone)
		}
	}
	set("a", "east")
	set("b", "west")
	set("a", "west")
	set("a", "")
	if !Any(values) || Changed([]agreed.Change{{Name: "user/zone/a"}}) {
		t.Error("zones are confused with other values")
	}
	if left := Without(values, "x"); left != values {
		t.Error("the values without an unknown node are others")
	}
	if left := Without(values, "b"); left != nil {
		t.Errorf("left are %v", left.All())
	}
	set("c", strings.Repeat("z", ring.MaxZoneLen))
	odd, err := values.With([]agreed.Change{{Name: "zone/d", Body: "with a blank"}}, 99)
	if err != nil || Member(odd, ring.Member{ID: "d"}).Zone != "" {
		t.Errorf("a text that is no zone: %v", err)
	}
}
