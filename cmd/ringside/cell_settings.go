package main

import (
	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/ring/cells"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// cellFlags are the settings of algorithms on cells.
var cellFlags = []struct{ flag, strategy, kind, usage string }{
	{"probes", strategy.MultiProbe, "n", "how often a key is hashed"},
	{"candidates", strategy.LRH, "n", "among how many nodes the primary of a key is chosen"},
	{"slack", strategy.Bounded, "x", "how much above its share a node may be"},
}

// addCellSettings adds their flags, which set fields of to. What is zero there is left open: usage says
// what then holds, given the default.
func addCellSettings(s *settings.Set, to *cells.Settings, usage func(standard string) string) {
	for _, f := range cellFlags {
		text := ""
		if was := (strategy.Config{Cells: *to}); was.Has(f.flag) {
			text = was.Setting(f.flag)
		}
		set := func(text string) error {
			if text == "" {
				return nil
			}
			c, err := strategy.Config{Hash: strategy.Native, Cells: *to}.With(f.strategy, []string{f.flag, text})
			if err == nil {
				*to = c.Cells
			}
			return err
		}
		s.Add(f.flag, settings.Func(f.kind, text, set), f.strategy+": "+f.usage+usage(strategy.DefaultConfig().Setting(f.flag)))
	}
}
