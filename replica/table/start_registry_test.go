package table

import (
	"errors"
	"net"
	"testing"

	"github.com/hashicorp/raft"
)

// What is registered counts from when it is in the log, until others take its place there.
func TestStartsAreKnownFromTheLog(t *testing.T) {
	s := new(startRegistry)
	log := &startsLog{raft.NewInmemStore(), s}
	register := func(index, incarnation uint64) *raft.Log {
		return &raft.Log{Index: index, Type: raft.LogCommand, Data: Encode(&Register{Node: "a", Incarnation: incarnation})}
	}
	want := func(incarnation uint64) {
		t.Helper()
		if got := s.newest("a"); got != incarnation {
			t.Errorf("the newest start is %d, not %d", got, incarnation)
		}
	}
	want(0)
	noop := &raft.Log{Index: 1, Type: raft.LogNoop, Data: []byte{1, byte(kindRegister)}}
	torn := &raft.Log{Index: 2, Type: raft.LogCommand, Data: []byte{1, byte(kindRegister), 3}}
	if err := log.StoreLogs([]*raft.Log{noop, torn, register(3, 10), register(4, 20)}); err != nil {
		t.Fatal(err)
	}
	want(20)
	if err := log.DeleteRange(4, 4); err != nil { // another leader's entry comes there
		t.Fatal(err)
	}
	want(10)
	if err := log.StoreLog(register(4, 30)); err != nil {
		t.Fatal(err)
	}
	s.useState(func() *State { return &State{nodes: []Node{{ID: "a", Incarnation: 25}}} })
	want(30)
	if err := log.DeleteRange(1, 4); err != nil { // they are in a snapshot
		t.Fatal(err)
	}
	want(25)
	if s.newest("b") != 0 {
		t.Error("b has started")
	}
}

type namedConn struct {
	net.Conn
	incarnation uint64
}

func (c namedConn) Start() (string, uint64) { return "a", c.incarnation }

// Nothing that an earlier start sends is taken in, also over a connection that was open before.
// It is still sent to.
func TestNothingOfEarlierStartIsTakenIn(t *testing.T) {
	s := new(startRegistry)
	near, far := net.Pipe()
	defer far.Close()
	conn := s.guard(namedConn{near, 10})
	note := func(incarnation uint64) {
		s.note(&raft.Log{Index: incarnation, Type: raft.LogCommand, Data: Encode(&Register{Node: "a", Incarnation: incarnation})})
	}
	note(10)
	go func() { _, _ = far.Write([]byte("ab")) }()
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	note(11)
	if n, err := conn.Read(make([]byte, 1)); n > 0 || !errors.Is(err, errSuperseded) {
		t.Error(n, err)
	}
	go func() { _, _ = far.Read(make([]byte, 1)) }()
	if _, err := conn.Write([]byte("c")); err != nil {
		t.Error(err)
	}
}
