package ketama

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// exampleServers is ketama.servers of libketama's repository.
var exampleServers = []ring.Member{
	{ID: "10.0.1.1:11211", Weight: 600},
	{ID: "10.0.1.2:11211", Weight: 300},
	{ID: "10.0.1.3:11211", Weight: 200},
	{ID: "10.0.1.4:11211", Weight: 350},
	{ID: "10.0.1.5:11211", Weight: 1000},
	{ID: "10.0.1.6:11211", Weight: 800},
	{ID: "10.0.1.7:11211", Weight: 950},
	{ID: "10.0.1.8:11211", Weight: 100},
}

func mustNew(t testing.TB, cfg Config) *Strategy {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustPlace(t testing.TB, s *Strategy, in ring.Input) *ring.Placement {
	t.Helper()
	p, err := s.Desired(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// equalMembers are n members of weight 1, named as twemproxy's tests name servers.
func equalMembers(n int) []ring.Member {
	members := make([]ring.Member, n)
	for i := range members {
		members[i] = ring.Member{ID: fmt.Sprintf("node-%d", i+1), Weight: 1}
	}
	return members
}

func TestPointsAreThoseOfLibketama(t *testing.T) {
	points, err := mustNew(t, Config{}).Points(exampleServers)
	if err != nil {
		t.Fatal(err)
	}
	owner := map[ring.Token]string{}
	var counts []int
	for _, m := range exampleServers {
		counts = append(counts, len(points[m.ID]))
		for _, p := range points[m.ID] {
			owner[p] = m.ID
		}
	}
	if want := []int{176, 88, 56, 104, 296, 236, 280, 28}; !slices.Equal(counts, want) {
		t.Errorf("points per server %v, want %v", counts, want)
	}
	all := slices.Sorted(maps.Keys(owner))
	if len(all) != 1264 {
		t.Fatalf("%d points, want 1264", len(all))
	}
	for _, tt := range []struct {
		place int
		point ring.Token
		id    string
	}{
		{0, 762113, "10.0.1.5:11211"},
		{1, 2322555, "10.0.1.5:11211"},
		{2, 3967256, "10.0.1.6:11211"},
		{1263, 4293620028, "10.0.1.5:11211"},
	} {
		if got := all[tt.place]; got != tt.point || owner[got] != tt.id {
			t.Errorf("point %d is %d of %s, want %d of %s", tt.place, got, owner[got], tt.point, tt.id)
		}
	}
}

func TestKeysLieWhereLibketamaHasThem(t *testing.T) {
	s := mustNew(t, Config{})
	p := mustPlace(t, s, ring.Input{Members: exampleServers, Backups: 1})
	for key, want := range map[string]string{"foo": "10.0.1.7:11211", "bar": "10.0.1.6:11211", "": "10.0.1.4:11211"} {
		if got := p.Lookup(s.Token([]byte(key))).Primary; got != want {
			t.Errorf("%q is at %s, want %s", key, got, want)
		}
	}
	for _, tt := range []struct {
		token ring.Token
		want  string
	}{
		{762113, "10.0.1.5:11211"}, // a point owns itself
		{3967256, "10.0.1.6:11211"},
		{2322556, "10.0.1.6:11211"},    // the first one after
		{4293620029, "10.0.1.5:11211"}, // past the last point the first owns
	} {
		if got := p.Lookup(tt.token).Primary; got != tt.want {
			t.Errorf("token %d is at %s, want %s", tt.token, got, tt.want)
		}
	}
}
