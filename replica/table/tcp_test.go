package table

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// loopback is a StreamLayer of plain TCP.
type loopback struct{ net.Listener }

func (loopback) Dial(address string, timeout time.Duration) (net.Conn, error) {
	return net.DialTimeout("tcp", address, timeout)
}

// Over real sockets, disks and clocks: three nodes, the leader ends, the others go
// on, and it comes back.
func TestGroupOverTCP(t *testing.T) {
	var mu sync.Mutex
	tables := map[string]*Table{}
	addresses := map[string]string{}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	open := func(id string) *Table {
		t.Helper()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		addresses[id] = l.Addr().String()
		mu.Unlock()
		table, err := Open(Config{
			ID: id, Dir: dir + "/" + id, Transport: loopback{l},
			Address: func(node string) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				return addresses[node], nil
			},
			Forward: func(ctx context.Context, node string, message []byte) ([]byte, error) {
				mu.Lock()
				to := tables[node]
				mu.Unlock()
				if to == nil {
					return nil, fmt.Errorf("%w: %s is away", ErrUnsent, node)
				}
				return to.HandleForward(ctx, message)
			},
			Peers: func() []string { return []string{"n0", "n1", "n2"} },
		})
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		tables[id] = table
		mu.Unlock()
		return table
	}
	shut := func(id string) {
		t.Helper()
		mu.Lock()
		table := tables[id]
		delete(tables, id)
		mu.Unlock()
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
	// apply waits until all have applied it.
	apply := func(at *Table, c Command) {
		t.Helper()
		done, err := at.Apply(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			if err := table.Wait(ctx, done.Index); err != nil {
				t.Fatalf("%s: %v", table.cfg.ID, err)
			}
		}
	}

	begun := time.Now()
	first := open("n0")
	if _, err := first.Found(ctx, found("n0", 256)); err != nil {
		t.Fatal(err)
	}
	t.Logf("one node founded its cluster within %v", time.Since(begun))
	for _, id := range []string{"n1", "n2"} {
		apply(open(id), &Register{Node: id, Incarnation: 1, Intact: true})
	}
	votes := func() bool {
		n := 0
		for _, s := range first.servers() {
			if s.Suffrage == raft.Voter {
				n++
			}
		}
		return n == 3
	}
	changed, stop := first.Changes()
	for !votes() {
		select {
		case <-changed:
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("three stores do not vote")
		}
	}
	stop()
	shut("n0")
	begun = time.Now()
	apply(tables["n1"], &SetWeight{"n1", 1, 2})
	t.Logf("decided %v after the leader had ended", time.Since(begun))
	apply(open("n0"), &Register{Node: "n0", Incarnation: 2, Intact: true})
	want := mustBytes(t, tables["n0"].State())
	for id, table := range tables {
		if mustBytes(t, table.State()) != want {
			t.Errorf("the table of %s differs", id)
		}
	}
	for _, id := range []string{"n0", "n1", "n2"} {
		shut(id)
	}
	dir = t.TempDir()
	sole := open("n0")
	if _, err := sole.Found(ctx, found("n0", 256)); err != nil {
		t.Fatal(err)
	}
	shut("n0")
	begun = time.Now()
	sole = open("n0")
	if _, err := sole.Apply(ctx, &Register{Node: "n0", Incarnation: 2}); err != nil {
		t.Fatal(err)
	}
	t.Logf("a sole voter was back within %v", time.Since(begun))
	shut("n0")
}
