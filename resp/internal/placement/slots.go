package placement

import (
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// SlotShift turns a token into the slot that it is under --hash slot.
const SlotShift = 32 - 14

// A SlotRun is slots, both ends included, with the same copies.
type SlotRun struct {
	First, Last int
	Primary     string
	Backups     []string
}

// Slots are runs of slots, each with its primary and its backups.
type Slots struct {
	Runs []SlotRun
	// Nodes are all that it names, and those without a slot, ordered.
	Nodes []string
	Epoch uint64 // the highest
	Bad   int    // slots that no node serves
	// Masters names the master of each replica, see replicas.
	Masters map[string]string
}

// LoneSlots gives all slots to one node.
func LoneSlots(node string) *Slots {
	return &Slots{Runs: []SlotRun{{First: 0, Last: ring.Slots - 1, Primary: node}}, Nodes: []string{node}, Epoch: 1}
}

// NewSlots returns the slots of a placement under --hash slot. It names further nodes, too.
func NewSlots(p *ring.Placement, nodes []string) *Slots {
	t := &Slots{Nodes: p.Nodes()}
	for _, id := range nodes {
		t.addNode(id)
	}
	for row := range p.Rows() {
		t.Epoch = max(t.Epoch, row.Epoch)
	}
	for slot := range ring.Slots {
		row := p.Lookup(ring.Token(slot) << SlotShift)
		if row.Primary == "" {
			t.Bad++
			continue
		}
		if n := len(t.Runs); n > 0 {
			if run := &t.Runs[n-1]; run.Last == slot-1 && run.Primary == row.Primary && slices.Equal(run.Backups, row.Backups) {
				run.Last = slot
				continue
			}
		}
		t.Runs = append(t.Runs, SlotRun{slot, slot, row.Primary, row.Backups})
	}
	t.Masters = t.replicas()
	return t
}

func (t *Slots) addNode(id string) {
	if i, found := slices.BinarySearch(t.Nodes, id); !found {
		t.Nodes = slices.Insert(t.Nodes, i, id)
	}
}

// RunsOf returns the slots of which a node is the primary.
func (t *Slots) RunsOf(id string) (runs []SlotRun) {
	for _, run := range t.Runs {
		if run.Primary == id {
			if n := len(runs); n > 0 && runs[n-1].Last == run.First-1 {
				runs[n-1].Last = run.Last
				continue
			}
			runs = append(runs, run)
		}
	}
	return runs
}

// replicas are the nodes without slots of their own that have copies of one node's only,
// with that node. Redis Cluster has one role a node: clients send READONLY to no node that
// is a master of any slot, so all other backups are left out of what CLUSTER tells.
func (t *Slots) replicas() map[string]string {
	masters := make(map[string]string)
	for _, run := range t.Runs {
		for _, id := range run.Backups {
			if of, ok := masters[id]; ok && of != run.Primary {
				masters[id] = "" // several nodes'
				continue
			}
			masters[id] = run.Primary
		}
	}
	for _, run := range t.Runs {
		delete(masters, run.Primary)
	}
	maps.DeleteFunc(masters, func(_, of string) bool { return of == "" })
	return masters
}

// NodeID returns a node's id in the form that Redis Cluster has: 40 hexadecimal digits, the SHA-1 of ours.
func NodeID(id string) string {
	sum := sha1.Sum([]byte(id))
	return hex.EncodeToString(sum[:])
}
