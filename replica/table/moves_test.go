package table

import (
	"errors"
	"testing"
)

// Directories that were written before moves could be paused are still read.
func TestSnapshotsWithoutMovesAreRead(t *testing.T) {
	s := steps(t, new(State), found("a", 4))
	c := writer()
	c.buf = append(c.buf, 1)
	var flat []Row
	for row := range s.Rows() {
		flat = append(flat, *row)
	}
	s.draft(s.index).code(c, &flat, 1)
	read := new(State)
	if err := read.UnmarshalBinary(c.buf); err != nil {
		t.Fatal(err)
	}
	if mustBytes(t, read) != mustBytes(t, s) {
		t.Error("it is another state")
	}
}

func TestMovesOutliveSnapshots(t *testing.T) {
	s := steps(t, new(State), found("a", 4), &SetMoves{Paused: new(true), Throttle: new(int64(1 << 40))})
	read := new(State)
	if err := read.UnmarshalBinary([]byte(mustBytes(t, s))); err != nil {
		t.Fatal(err)
	}
	if got := read.Cluster().Moves; got != (Moves{Paused: true, Throttle: 1 << 40}) {
		t.Errorf("%+v", got)
	}
}

func TestClustersAreFoundedWithoutOrdersAboutMoves(t *testing.T) {
	f := found("a", 4)
	f.Cluster.Paused = true
	if _, err := new(State).Apply(1, f); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v", err)
	}
}
