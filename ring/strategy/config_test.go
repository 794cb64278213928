package strategy

import (
	"errors"
	"hash/fnv"
	"math"
	"testing"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/cells"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/vnode"
)

func TestEachNameIsItsStrategy(t *testing.T) {
	key := []byte("a{tag}b")
	for name, native := range map[string]ring.TokenFunc{
		"buckets": buckets.Token, "ketama": ketama.Token, "vnode": vnode.Token,
	} {
		for hash, token := range map[string]ring.TokenFunc{"native": native, "slot": ring.SlotToken} {
			s, err := Config{Name: name, Hash: hash}.New()
			if err != nil {
				t.Fatal(err)
			}
			if s.Name() != name || s.Token(key) != token(key) {
				t.Errorf("%s, %s: %s with another function's token", name, hash, s.Name())
			}
		}
	}
	for _, name := range Names() {
		if err := (Config{Name: name, Hash: Native}).Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, rule := range KetamaRules() {
		if err := (Config{Name: Ketama, Hash: Slot, KetamaRule: ketama.Rule(rule)}).Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestSettingsReachTheStrategy(t *testing.T) {
	in := ring.Input{Members: []ring.Member{{ID: "a", Weight: 1}, {ID: "b", Weight: 1}}}
	for _, tt := range []struct {
		cfg      Config
		from, to int // ranges
	}{
		{Config{Name: Ketama, Hash: Native, Points: 8}, 2, 16},
		{Config{Name: Ketama, Hash: Native}, 100, 320},
		{Config{Name: VNode, Hash: Native, VNodes: 1}, 2, 2},
		{Config{Name: VNode, Hash: Native}, 2, 8},
		{Config{Name: Buckets, Hash: Native, Mask: 0xF}, 16, 16},
		{Config{Name: Buckets, Hash: Native}, 256, 256},
		{DefaultConfig(), 256, 256},
	} {
		s, err := tt.cfg.New()
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Desired(in)
		if err != nil {
			t.Fatal(err)
		}
		if p.Len() < tt.from || p.Len() > tt.to {
			t.Errorf("%+v: %d ranges", tt.cfg, p.Len())
		}
	}
}

// TestCellSettingsChangeThePlacement compares with the default, and that with what is set to it.
func TestCellSettingsChangeThePlacement(t *testing.T) {
	in := ring.Input{}
	for i := range 12 {
		in.Members = append(in.Members, ring.Member{ID: string(rune('a' + i)), Weight: 1})
	}
	desired := func(name string, set ...string) string {
		t.Helper()
		c, err := Config{Hash: Native}.With(name, set)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.New()
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Desired(in)
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, tt := range []struct{ name, setting, usual, other string }{
		{MultiProbe, "PROBES", "21", "3"},
		{LRH, "candidates", "8", "2"},
		{Bounded, "slack", "0.1", "0.001"},
	} {
		usual := desired(tt.name)
		if usual != desired(tt.name, tt.setting, tt.usual) {
			t.Errorf("%s: %s is not the default of %s", tt.name, tt.usual, tt.setting)
		}
		if usual == desired(tt.name, tt.setting, tt.other) {
			t.Errorf("%s: %s %s has no effect", tt.name, tt.setting, tt.other)
		}
	}
}

func TestEveryFaultOfAConfig(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		want []error
	}{
		{Config{}, []error{ErrName, ErrHash}},
		{Config{Name: "Ketama", Hash: "crc16"}, []error{ErrName, ErrHash}},
		{Config{Name: Ketama, Hash: "SLOT", Points: 3, KetamaRule: "x"}, []error{ErrHash, ketama.ErrPoints, ketama.ErrRule}},
		{Config{Name: VNode, Hash: "", VNodes: -1}, []error{ErrHash, vnode.ErrVNodes}},
		{Config{Name: Buckets, Hash: "", Mask: 0x00F0}, []error{ErrHash, buckets.ErrMask}},
		{Config{Name: Buckets, Hash: Slot, Mask: 0xFFFF}, []error{buckets.ErrMask}},
		{Config{Name: MultiProbe, Hash: "", Cells: cells.Settings{Probes: -1}}, []error{ErrHash, cells.ErrProbes}},
		{Config{Name: LRH, Hash: Native, Cells: cells.Settings{Candidates: 257}}, []error{cells.ErrCandidates}},
		{Config{Name: Bounded, Hash: Slot, Cells: cells.Settings{Slack: math.NaN()}}, []error{cells.ErrSlack}},
	} {
		s, err := tt.cfg.New()
		for _, want := range tt.want {
			if s != nil || !errors.Is(err, want) || !errors.Is(tt.cfg.Validate(), want) {
				t.Errorf("%+v: %v is not among %v", tt.cfg, want, err)
			}
		}
	}
}

// What is set for another strategy is no fault of this one.
func TestOnlyTheNamedStrategyIsChecked(t *testing.T) {
	bad := Config{Hash: Native, Points: 3, KetamaRule: "x", VNodes: -1, Mask: 0x00F0, Cells: cells.Settings{Probes: -1, Candidates: -1, Slack: -1}}
	for name, mend := range map[string]func(*Config){
		Buckets: func(c *Config) { c.Mask = 0 },
		Ketama:  func(c *Config) { c.Points, c.KetamaRule = 0, "" },
		VNode:   func(c *Config) { c.VNodes = 0 },
		Maglev:  func(*Config) {},
		Bounded: func(c *Config) { c.Cells.Slack = 0 },
	} {
		c := bad
		c.Name = name
		mend(&c)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestListsAreTheCallersOwn(t *testing.T) {
	for _, list := range []func() []string{Names, Hashes, KetamaRules} {
		list()[0] = "changed"
		if list()[0] == "changed" {
			t.Error("a list is shared")
		}
	}
}

func TestParse(t *testing.T) {
	base := Config{Name: Ketama, Hash: Slot, Points: 80, KetamaRule: Twemproxy, VNodes: 7, Mask: 0xF}
	change := func(f func(*Config)) Config {
		c := base
		f(&c)
		return c
	}
	for _, tt := range []struct {
		spec string
		want Config
	}{
		{"ketama", base},
		{"ketama:40", change(func(c *Config) { c.Points = 40 })},
		{"vnode", change(func(c *Config) { c.Name = VNode })},
		{"vnode:128", change(func(c *Config) { c.Name, c.VNodes = VNode, 128 })},
		{"buckets", change(func(c *Config) { c.Name = Buckets })},
		{"buckets:0x0fff", change(func(c *Config) { c.Name, c.Mask = Buckets, 0xFFF })},
		{"buckets:000F", change(func(c *Config) { c.Name, c.Mask = Buckets, 0xF })},
		{"multiprobe:256", change(func(c *Config) { c.Name, c.Cells.Probes = MultiProbe, 256 })},
		{"lrh:1", change(func(c *Config) { c.Name, c.Cells.Candidates = LRH, 1 })},
		{"bounded:0.25", change(func(c *Config) { c.Name, c.Cells.Slack = Bounded, 0.25 })},
	} {
		if got, err := Parse(tt.spec, base); err != nil || got != tt.want {
			t.Errorf("%s: %+v, want %+v, %v", tt.spec, got, tt.want, err)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for _, tt := range []struct {
		spec string
		want error
	}{
		{"", ErrName}, {"Ketama", ErrName}, {"ketama ", ErrName}, {"mod:3", ErrName}, {":", ErrName},
		{"ketama:", ErrSetting}, {"ketama:0", ErrSetting}, {"ketama:-4", ErrSetting}, {"ketama:1e3", ErrSetting},
		{"ketama:40:1", ErrSetting}, {"ketama:99999999999999999999", ErrSetting}, {"ketama:41", ketama.ErrPoints},
		{"vnode:0", ErrSetting}, {"vnode:x", ErrSetting}, {"vnode:65537", vnode.ErrVNodes},
		{"buckets:", buckets.ErrMask}, {"buckets:0", buckets.ErrMask}, {"buckets:0x", buckets.ErrMask},
		{"buckets:00F0", buckets.ErrMask}, {"buckets:1FFFF", buckets.ErrMask}, {"buckets:xyz", buckets.ErrMask},
		{"buckets:100000000F", buckets.ErrMask},
		{"maglev:1", ErrSetting}, {"multiprobe:0", ErrSetting}, {"multiprobe:257", cells.ErrProbes}, {"lrh:257", cells.ErrCandidates},
		{"bounded:0", ErrSetting}, {"bounded:NaN", ErrSetting}, {"bounded:Inf", cells.ErrSlack}, {"bounded:1e-9", cells.ErrSlack},
	} {
		if got, err := Parse(tt.spec, DefaultConfig()); !errors.Is(err, tt.want) || got != (Config{}) {
			t.Errorf("%q: %+v, %v, want %v", tt.spec, got, err, tt.want)
		}
	}
	base := DefaultConfig()
	base.Hash = "x"
	if _, err := Parse("vnode:0", base); !errors.Is(err, ErrSetting) || !errors.Is(err, ErrHash) {
		t.Errorf("not every fault: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, spec := range []string{"buckets", "buckets:00FF", "ketama:160", "vnode:128", "", "x:", "buckets:0x0FFF:", "bounded:0.25", "multiprobe:5"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		c, err := Parse(spec, DefaultConfig())
		if err != nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("%q: %v", spec, err)
		}
		again := c.Name
		if all := Settings(c.Name); len(all) > 0 {
			again += ":" + c.Setting(all[0])
		}
		if same, err := Parse(again, DefaultConfig()); err != nil || same != c {
			t.Fatalf("%q is %+v, %q is %+v, %v", spec, c, again, same, err)
		}
	})
}

// TestHashIsOneFunctionUnderEveryStrategy includes native, which stays that of the founding strategy.
func TestHashIsOneFunctionUnderEveryStrategy(t *testing.T) {
	key := []byte("a{tag}b")
	h := fnv.New64a()
	_, _ = h.Write([]byte("tag"))
	for _, tt := range []struct {
		hash, founding string
		want           ring.Token
	}{
		{FNV1a, "", ring.Token(uint32(h.Sum64()))},
		{MD5, "", ketama.Token(key)},
		{Murmur3, "", vnode.Token(key)},
		{Slot, "", ring.SlotToken(key)},
		{Native, Buckets, buckets.Token(key)},
		{Native, Ketama, ketama.Token(key)},
		{Native, VNode, vnode.Token(key)},
		{Native, Maglev, cells.Token(key)},
	} {
		for _, name := range Names() {
			s, err := Config{Name: name, Hash: tt.hash, Founding: tt.founding}.New()
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Token(key); got != tt.want || s.Name() != name {
				t.Errorf("%s, hash %s, founded with %q: %08x, want %08x", name, tt.hash, tt.founding, got, tt.want)
			}
		}
	}
}
