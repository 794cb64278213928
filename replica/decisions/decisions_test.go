package decisions

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/replica/table"
)

// What happens to many ranges at about the same time is one decision, and the oldest are forgotten.
func TestLogGathersRanges(t *testing.T) {
	var log Log
	at, state := time.Unix(1e9, 0), new(table.State)
	note := func(after time.Duration, c table.Command) {
		at = at.Add(after)
		log.Note(at, c, state, state)
	}
	texts := func() (all []string) {
		for _, d := range log.Last() {
			all = append(all, d.Text)
		}
		return all
	}
	note(0, &table.Release{Rows: make([]table.Ref, 2), Node: "b"})
	note(time.Second, &table.Release{Rows: make([]table.Ref, 1), Node: "c%s"})
	note(time.Second, &table.Release{Rows: make([]table.Ref, 3), Node: "b"})
	note(0, &table.Compared{})
	note(0, &table.Admit{Node: "d"})
	note(gathered, &table.Release{Rows: make([]table.Ref, 1), Node: "b"})
	paused, throttle := true, int64(0)
	note(0, &table.SetMoves{Paused: &paused, Throttle: &throttle})
	note(0, &table.SetValues{Changes: []agreed.Change{{Name: "users"}, {Name: "user/alice"}, {Name: "zone/b", Remove: true}}})
	note(0, &table.Forget{Node: "d"})
	want := []string{
		"node d is forgotten", "settings of the cluster are changed: zone", "settings of the cluster are changed: user",
		"handoffs may send any number of bytes a second", "handoffs are paused", "node b is no backup of 1 range any more",
		"node c%s is no backup of 1 range any more", "node b is no backup of 5 ranges any more",
	}
	if got := texts(); !slices.Equal(got, want) {
		t.Errorf("%q instead of %q", got, want)
	}
	for i := range 2 * kept {
		note(0, &table.SetWeight{Node: fmt.Sprint("n", i), Weight: 1.5})
	}
	if got := texts(); len(got) != kept || got[0] != fmt.Sprintf("node n%d has the weight 1.5", 2*kept-1) {
		t.Errorf("%d decisions, the last is %q", len(got), got[0])
	}
}

// TestOrdersAreTold reads orders as a node does, also such as no build writes.
func TestOrdersAreTold(t *testing.T) {
	var log Log
	state := new(table.State)
	for body, want := range map[string]string{
		Order{User: "ada", Node: "b", Text: "RING FORGET %d"}.Change(nil).Body: "user ada ordered at node b: RING FORGET %d",
		"{}": "an order was given", "": "an order was given", `{"text":7}`: "an order was given",
	} {
		log.Note(time.Unix(1e9, 0), &table.SetValues{Changes: []agreed.Change{{Name: orderName, Body: body}}}, state, state)
		if got := log.Last()[0].Text; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
