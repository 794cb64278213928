package settings

import (
	"testing"
)

// Every parameter takes what it shows, whatever it was given, and redis-config keeps it.
func FuzzParameters(f *testing.F) {
	for _, value := range []string{"", "yes", "5", "10gb", "60 1", "now force", "50 99.9", "normal 1 2 3", "{title}", "a\nb", " x ", `"q"`, "# c", "\x00\xff"} {
		f.Add(value)
	}
	start := func() Table {
		set := new(Running)
		standard := Default()
		set.Set(nil, &standard)
		return NewTable(set)
	}
	f.Fuzz(func(t *testing.T, value string) {
		table := start()
		for i := range table {
			p := &table[i]
			if p.Parse == nil {
				continue
			}
			apply, fault := p.Parse(value)
			if fault != "" {
				continue
			}
			apply()
			shown := p.Get()
			again, fault := p.Parse(shown)
			if fault != "" {
				t.Fatalf("%s %q: shows %q, and refuses it: %s", p.Name, value, shown, fault)
			}
			again()
			if got := p.Get(); got != shown {
				t.Fatalf("%s %q: shows %q, and then %q", p.Name, value, shown, got)
			}
		}
		config := table.Values()[RedisConfigName]
		if faults := CheckRedisConfig(config); len(faults) > 0 {
			t.Fatalf("%q: %v from %q", value, faults, config)
		}
		next := start()
		next.SetRedisConfig("", config)
		if got := next.Values()[RedisConfigName]; got != config {
			t.Fatalf("%q became %q", config, got)
		}
		next.SetRedisConfig(config, "")
		if got := next.Values()[RedisConfigName]; got != "" {
			t.Fatalf("%q stays without its lines: %q", config, got)
		}
	})
}
