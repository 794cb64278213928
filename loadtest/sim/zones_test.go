package sim

import "testing"

// Copies of a key are in different zones while there are enough zones, whatever happens to the nodes; mod knows no
// zones.
func TestCopiesOfKeysLieInDifferentZones(t *testing.T) {
	c := DefaultConfig()
	c.Members, c.Keys, c.Scenario, c.Zones = Nodes(7), 3000, "add 2; crash; remove 2; restore; strategy vnode", 3
	for backups := range 4 {
		c.Backups = backups
		report := simulate(t, c)
		if got := report.Steps[0].Nodes[3]; got.Zone != "zone-1" {
			t.Errorf("%+v: three nodes are in three zones, and the fourth is in the first", got)
		}
		for _, step := range report.Steps {
			for i, o := range step.Outcomes {
				// More copies than zones share one.
				want := map[bool]int64{true: int64(c.Keys)}[backups >= 3]
				name := report.Contenders[i].Name
				if name == Mod && backups == 1 && step.Event == "start" {
					want = o.Nodes[6].Primary.Keys // the last node is in the zone of the first, which has its backups
				}
				if o.OneZone != want && (name != Mod || step.Event == "start" && backups != 2) {
					t.Errorf("%s, %d backups, %s: %d keys with two copies in one zone, want %d", name, backups, step.Event, o.OneZone, want)
				}
			}
		}
	}
	c.Zones = MaxZones + 1
	if err := c.Validate(); err == nil {
		t.Error("too many zones are taken")
	}
}
