package psync

import (
	"encoding/binary"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/internal/memconn"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/keyevents"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A fakeNode answers what a history asks its node.
type fakeNode struct {
	t *testing.T

	mu   sync.Mutex
	data map[place]string
	hold chan struct{} // answers about values wait for it; nil: they do not
	asks int           // about values

	follower keyevents.Follower
}

func (n *fakeNode) set(at place, value string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.data[at] = value
}

// holdAnswers has the answers about values wait until release: they are what was true when they were asked for.
func (n *fakeNode) holdAnswers() (release func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	hold := make(chan struct{})
	n.hold = hold
	return func() {
		n.mu.Lock()
		n.hold = nil
		n.mu.Unlock()
		close(hold)
	}
}

func (n *fakeNode) dial() (net.Conn, error) {
	near, far := memconn.Pipe()
	go n.serve(far)
	return near, nil
}

func (n *fakeNode) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in, selected := resptest.NewRequests(conn), 0
	for {
		words, err := in.Next()
		if err != nil {
			return
		}
		reply := []byte("+OK\r\n")
		switch strings.ToUpper(words[0]) {
		case "SELECT":
			selected, _ = strconv.Atoi(words[1])
		case "SCAN":
			reply = n.scan(selected)
		case "RING":
			reply = n.value(place{selected, words[2]})
		}
		if _, err := conn.Write(reply); err != nil {
			return
		}
	}
}

func (n *fakeNode) scan(database int) []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	var keys []string
	for at := range n.data {
		if at.database == database {
			keys = append(keys, at.key)
		}
	}
	reply := wire.AppendBulkString(wire.AppendArray(nil, 2), "0")
	return append(reply, wire.AppendRequest(nil, keys...)...)
}

func (n *fakeNode) value(at place) []byte {
	n.mu.Lock()
	value, ok := n.data[at]
	hold := n.hold
	n.asks++
	n.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if !ok {
		return []byte("$-1\r\n")
	}
	return wire.AppendBulkString(nil, string(binary.LittleEndian.AppendUint64(nil, 0))+value)
}

// testHistory begins a history with a replica that reads.
func testHistory(t *testing.T) (*history, *fakeNode) {
	t.Helper()
	n := &fakeNode{t: t, data: make(map[place]string)}
	s := New(Config{
		Dial: n.dial, Follow: func(f keyevents.Follower) { n.follower = f }, Policies: func() *database.Policies { return nil },
		Databases: func() int { return 4 }, Functions: func() uint64 { return 0 },
		Settings: func() Settings { return Settings{Backlog: 1 << 20, PingPeriod: time.Hour, Timeout: time.Hour} },
		Logger:   slog.New(slog.DiscardHandler),
	})
	h, err := s.current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.setOnline(1)
	t.Cleanup(s.Close)
	return h, n
}

// commands returns what the stream has behind a cursor, without lengths.
func (h *history) commands(c *cursor) string {
	var all []byte
	for {
		data, _ := h.stream.next(c)
		if data == nil {
			break
		}
		all = append(all, data...)
		h.stream.advance(c, len(data))
	}
	var words []string
	for _, line := range strings.Split(string(all), "\r\n") {
		if line != "" && line[0] != '*' && line[0] != '$' {
			words = append(words, line)
		}
	}
	return strings.Join(words, " ")
}

func restored(key, value string) string { return "RESTORE " + key + " 0 " + value + " REPLACE ABSTTL" }

func TestHistorySendsLastValueOfEachKey(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		h, n := testHistory(t)
		h.pause()
		c := h.resume(true)
		n.set(place{0, "a"}, "one")
		h.Changed([]byte("a"))
		time.Sleep(time.Second)
		if got, want := h.commands(c), "SELECT 0 "+restored("a", "one"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		release := n.holdAnswers()
		h.Changed([]byte("a"))
		time.Sleep(time.Second)
		n.set(place{0, "a"}, "two")
		h.Changed([]byte("a"))
		n.set(place{0, "a"}, "three")
		h.Changed([]byte("a"))
		release()
		time.Sleep(time.Second)
		if got, want := h.commands(c), restored("a", "one")+" "+restored("a", "three"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		h.Changed([]byte("gone"))
		time.Sleep(time.Second)
		if got := h.commands(c); got != "DEL gone" {
			t.Errorf("%q", got)
		}
	})
}

// What was read before the moment of a snapshot is older than the snapshot.
func TestHistorySendsNothingReadBeforeTheMoment(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		h, n := testHistory(t)
		n.set(place{0, "a"}, "old")
		release := n.holdAnswers()
		h.Changed([]byte("a"))
		time.Sleep(time.Second)
		h.pause()
		n.set(place{0, "a"}, "new") // which the moment has
		c := h.resume(true)
		release()
		time.Sleep(time.Second)
		if got, want := h.commands(c), "SELECT 0 "+restored("a", "new"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

func TestHistoryWritesFlushBehindTheMoment(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		h, _ := testHistory(t)
		h.pause() // the moment may be before the flush
		h.Flushed(-1)
		time.Sleep(time.Second)
		c := h.resume(true)
		time.Sleep(time.Second)
		if got := h.commands(c); got != "FLUSHALL" {
			t.Errorf("%q", got)
		}
	})
}

// What was read before a flush is not sent behind it, and the keys that are there after it are.
func TestHistorySendsKeysAnewAfterFlush(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		h, n := testHistory(t)
		h.pause()
		c := h.resume(true)
		n.set(place{2, "gone"}, "old")
		n.set(place{0, "other"}, "value")
		release := n.holdAnswers()
		h.touch(place{2, "gone"})
		time.Sleep(time.Second)
		n.mu.Lock()
		delete(n.data, place{2, "gone"})
		n.mu.Unlock()
		n.set(place{2, "stays"}, "value")
		h.Flushed(2)
		h.Flushed(2) // by another node
		time.Sleep(time.Second)
		release()
		time.Sleep(time.Second)
		got := h.commands(c)
		rest, ok := strings.CutPrefix(got, "SELECT 2 FLUSHDB ")
		if one, two := restored("stays", "value")+" DEL gone", "DEL gone "+restored("stays", "value"); !ok || rest != one && rest != two {
			t.Errorf("%q", got)
		}
	})
}

func TestHistoryThatEndsIsFollowedByAnother(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		h, n := testHistory(t)
		for range 5 {
			h.Gap("another")
			next, err := h.s.current(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if next == h || next.id == h.id {
				t.Fatal("the history goes on after a gap")
			}
			if n.follower != next {
				t.Fatal("the next history does not follow the changes")
			}
			h = next
		}
	})
}
