package table

import (
	"errors"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// What a primary has asked for before it ended may be decided after it was started again:
// if it has lost something by then, the last one that has it stays.
func TestLastBackupStaysWhenPrimaryLostData(t *testing.T) {
	for _, intact := range []bool{false, true} {
		st := new(State)
		do := func(c Command) error {
			next, err := st.Apply(st.Index()+1, c)
			st = next
			return err
		}
		ref := func() []Ref {
			row, _ := st.Row(0)
			return []Ref{row.Ref()}
		}
		must := func(c Command) {
			t.Helper()
			if err := do(c); err != nil {
				t.Fatal(err)
			}
		}
		must(&Found{
			Cluster: Cluster{Name: "test", Generation: 1, Strategy: Settings{Name: "buckets", Hash: "native"}}, Node: "a", Incarnation: 1, Weight: 1,
			Rows: []ring.Row{{Range: ring.Whole, Epoch: 1, Primary: "a"}},
		})
		must(&Register{Node: "b", Incarnation: 1, Weight: 1})
		must(&AddLearner{Node: "b", Incarnation: 1, Rows: ref()})
		must(&Admit{Node: "b", Incarnation: 1, Rows: ref()})
		release := &Release{Node: "b", Rows: ref()}
		must(&Register{Node: "a", Incarnation: 2, Intact: intact})
		err := do(release)
		row, _ := st.Row(0)
		if intact != (err == nil) || !intact && !errors.Is(err, ErrNotInSync) || row.Holds("b") == intact {
			t.Errorf("intact %v: %v, %+v", intact, err, row)
		}
	}
}
