package strategy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
)

// Nodes with zones join, leave and move to other zones, under every strategy.
func TestCopiesLieInDifferentZones(t *testing.T) {
	randomtest.Draw(t, 3)
	seed := randomtest.Seed(t)
	for n, name := range Names() {
		t.Run(name, func(t *testing.T) {
			s, err := Config{Name: name, Hash: Slot}.New()
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(seed, uint64(n)))
			for range randomtest.Length(12, 1) {
				z := zonedCluster{t: t, s: s, rnd: rnd, zones: 1 + rnd.IntN(5)}
				z.in.Backups = rnd.IntN(4)
				for range 4 {
					z.change()
					z.check()
				}
			}
		})
	}
}

// zonedCluster is a cluster whose members have zones.
type zonedCluster struct {
	t     *testing.T
	s     ring.Strategy
	rnd   *rand.Rand
	in    ring.Input
	zones int
	named int
}

func (z *zonedCluster) change() {
	members := append([]ring.Member(nil), z.in.Members...)
	if len(members) > 1 && z.rnd.IntN(3) == 0 {
		at := z.rnd.IntN(len(members))
		members = append(members[:at], members[at+1:]...)
	}
	for range 1 + z.rnd.IntN(3) {
		z.named++
		members = append(members, ring.Member{ID: fmt.Sprint("node-", z.named), Weight: 1 + float64(z.rnd.IntN(2))/2})
	}
	for i := range members {
		if z.rnd.IntN(3) == 0 {
			members[i].Zone = fmt.Sprint("zone-", z.rnd.IntN(z.zones))
		}
	}
	z.in.Members = members
	if z.in.Present != nil && z.rnd.IntN(2) == 0 && z.s.Name() != Buckets {
		z.in.Overrides = overridesFor(z.rnd, z.in.Present, members, true)
	}
}

func (z *zonedCluster) desired(in ring.Input) *ring.Placement {
	z.t.Helper()
	p, err := z.s.Desired(in)
	if err != nil {
		z.t.Fatal(err)
	}
	return p
}

// check checks the desired placement: copies lie apart, primaries are those without zones, and a repetition
// changes nothing.
func (z *zonedCluster) check() {
	z.t.Helper()
	p := z.desired(z.in)
	bare := z.in
	bare.Members = append([]ring.Member(nil), bare.Members...)
	for i := range bare.Members {
		bare.Members[i].Zone = ""
	}
	without := z.desired(bare)
	zone, sizes := make(map[string]string), make(map[string]int)
	for _, m := range z.in.Members {
		zone[m.ID] = m.Zone
		if m.Zone == "" {
			zone[m.ID] = "alone/" + m.ID
		}
		sizes[zone[m.ID]]++
	}
	copies := z.in.Copies()
	most := 1 // copies in the fullest zone, at least
	for room := 0; room < copies; most++ {
		room = 0
		for _, n := range sizes {
			room += min(n, most)
		}
	}
	most--
	for r, rows := range ring.Overlay(without, p) {
		was, is := rows[0], rows[1]
		if z.s.Name() != Buckets && is.Primary != was.Primary {
			z.t.Fatalf("%v is served by %s with zones, by %s without", r, is.Primary, was.Primary)
		}
		if len(is.Backups) != len(was.Backups) || 1+len(is.Backups) != copies {
			z.t.Fatalf("%v has backups %v with zones, %v without", r, is.Backups, was.Backups)
		}
		count := make(map[string]int)
		for node := range is.Copies() {
			if count[zone[node]]++; count[zone[node]] > most {
				z.t.Fatalf("%v lies at %s and %v: more than %d copies in zone %s of %v", r, is.Primary, is.Backups, most, zone[node], zone)
			}
		}
	}
	z.in.Present = p
	if again := z.desired(z.in); !equalCopies(p, again) {
		z.t.Fatal("a repetition changes the placement")
	}
	// Only which nodes share a zone matters.
	renamed := z.in
	renamed.Members = append([]ring.Member(nil), z.in.Members...)
	for i := range renamed.Members {
		if m := &renamed.Members[i]; m.Zone != "" {
			m.Zone = "other-" + m.Zone
		}
	}
	if again := z.desired(renamed); !equalCopies(p, again) {
		z.t.Fatal("other names of the same zones change the placement")
	}
}

// A node that joins takes copies from others, and survivors exchange none, where the strategy promises that.
func TestJoinWithZonesGivesOnlyToJoiner(t *testing.T) {
	seed := randomtest.Seed(t)
	for n, name := range []string{VNode, Rendezvous} {
		rnd := rand.New(rand.NewPCG(seed, uint64(n)))
		s, err := Config{Name: name, Hash: Native}.New()
		if err != nil {
			t.Fatal(err)
		}
		for range randomtest.Length(120, 5) {
			in := ring.Input{Backups: 1 + rnd.IntN(2)}
			zones := in.Backups + 1 + rnd.IntN(3)
			for i := range zones + rnd.IntN(8) {
				zone := i // each zone has a node
				if i >= zones {
					zone = rnd.IntN(zones)
				}
				in.Members = append(in.Members, ring.Member{ID: fmt.Sprint("n", i), Weight: 1, Zone: fmt.Sprint("z", zone)})
			}
			if in.Present, err = s.Desired(in); err != nil {
				t.Fatal(err)
			}
			in.Members = append(in.Members, ring.Member{ID: "joiner", Weight: 1, Zone: fmt.Sprint("z", rnd.IntN(zones+1))})
			after, err := s.Desired(in)
			if err != nil {
				t.Fatal(err)
			}
			for r, rows := range ring.Overlay(in.Present, after) {
				for node := range rows[1].Copies() {
					if node != "joiner" && !rows[0].Holds(node) {
						t.Fatalf("%s: %v goes to %s, at %v before, at %v now", name, r, node, rows[0], rows[1])
					}
				}
			}
		}
	}
}

// Placements without zones are those of builds that do not know zones, byte for byte.
func TestPlacementWithoutZonesIsUnchanged(t *testing.T) {
	for _, name := range Names() {
		sum := digestOfHistory(t, name, func(int) string { return "" })
		if want := placementsBeforeZones[name]; sum != want {
			t.Errorf("%q: %q, want %q", name, sum, want)
		}
		if alone := digestOfHistory(t, name, func(i int) string { return fmt.Sprint("z", i) }); alone != sum {
			t.Errorf("%s: placements differ if each node is in a zone of its own", name)
		}
	}
}

// digestOfHistory is the hash of placements while nodes join, leave and change their weights.
func digestOfHistory(t *testing.T, name string, zone func(i int) string) string {
	t.Helper()
	s, err := Config{Name: name, Hash: Native}.New()
	if err != nil {
		t.Fatal(err)
	}
	rnd, sum := rand.New(rand.NewPCG(1, 2)), sha256.New()
	var members []ring.Member
	var present *ring.Placement
	for i := range 5 {
		members = append(members, ring.Member{ID: fmt.Sprint("10.0.0.", i), Weight: 1 + float64(rnd.IntN(3)), Zone: zone(i)})
		if i == 3 {
			at := rnd.IntN(len(members))
			members = append(members[:at], members[at+1:]...)
		}
		if present, err = s.Desired(ring.Input{Members: members, Backups: i % 3, Present: present}); err != nil {
			t.Fatal(err)
		}
		b, err := present.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(b)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// placementsBeforeZones are what digestOfHistory returned for the build before zones.
var placementsBeforeZones = map[string]string{
	"buckets":    "e34a59fcfad8da1e",
	"ketama":     "80ad907e56198e0a",
	"vnode":      "2cb9c3727cdcc794",
	"anchor":     "a9a97036ac974e89",
	"bounded":    "c4895d2f05144d43",
	"jump":       "566ef8fc755fbdc5",
	"lrh":        "1924457e63908bee",
	"maglev":     "2260e8beeee7837f",
	"memento":    "b79cd6c5a50e12b3",
	"multiprobe": "48b27e2787ecd3f7",
	"rendezvous": "1924457e63908bee",
}
