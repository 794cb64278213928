package placing

import (
	"testing"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring/cells"
)

func TestDifferences(t *testing.T) {
	s := table.Settings{Points: 160, KetamaRule: "libketama", VNodes: 4, Mask: 0xff}
	for _, tt := range []struct {
		w    Wants
		want string
	}{
		{Wants{}, ""},
		{Wants{Points: 160, KetamaRule: "libketama", VNodes: 4, Mask: 0xff}, ""},
		{Wants{Points: 80}, "--points 80 was asked for, the cluster has 160: give the cluster's, or none"},
		{Wants{KetamaRule: "twemproxy", Mask: 0xfff},
			"--mask 0FFF was asked for, the cluster has 00FF; --ketama-rule twemproxy was asked for, the cluster has libketama: give the cluster's, or none"},
		{Wants{Settings: cells.Settings{Probes: 21, Candidates: 8, Slack: 0.1}}, ""},
		{Wants{Settings: cells.Settings{Probes: 5, Slack: 0.5}},
			"--slack 0.5 was asked for, the cluster has 0.1; --probes 5 was asked for, the cluster has 21: give the cluster's, or none"},
	} {
		if got := tt.w.Differences(&table.Cluster{Strategy: s}); got != tt.want {
			t.Errorf("%+v: %q", tt.w, got)
		}
	}
}
