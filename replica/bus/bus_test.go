package bus

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testConfig(id string) Config {
	return Config{
		ID:          id,
		Incarnation: 7,
		Cluster:     "test",
		Generation:  func(Purpose) uint64 { return 3 },
		Strategy:    "buckets",
		Hash:        "native",
		Listen:      "127.0.0.1:0",
	}
}

var testKey = []byte("a key for tests, 32 bytes long..")

// startBus opens a bus that serves Stream with an echo.
func startBus(t testing.TB, cfg Config) *Bus {
	t.Helper()
	b, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	b.Handle(Stream, func(_ Peer, conn net.Conn) {
		defer conn.Close()
		_, _ = io.Copy(conn, conn)
	})
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	return b
}

// eachKey runs a test without and with a cluster key.
func eachKey(t *testing.T, test func(t *testing.T, key []byte)) {
	t.Run("plain", func(t *testing.T) { test(t, nil) })
	t.Run("sealed", func(t *testing.T) { test(t, testKey) })
}

func TestPeersMeetAndTalk(t *testing.T) {
	eachKey(t, func(t *testing.T, key []byte) {
		cfg := testConfig("b")
		cfg.Key = key
		b := startBus(t, cfg)
		met := make(chan Peer, 1)
		b.Handle(Control, func(p Peer, conn net.Conn) {
			met <- p
			_ = conn.Close()
		})
		cfg.ID, cfg.Incarnation = "a", 9
		a := startBus(t, cfg)

		conn, peer, err := a.Dial(t.Context(), b.Addr().String(), "b", Stream)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if want := (Peer{ID: "b", Incarnation: 7, Generation: 3, Purpose: Stream, Version: newestVersion}); peer != want {
			t.Errorf("dialled %+v, want %+v", peer, want)
		}
		if got := conn.(interface{ PeerIncarnation() uint64 }).PeerIncarnation(); got != 7 {
			t.Errorf("the connection leads to incarnation %d", got)
		}
		if got := conn.(interface{ PeerVersion() uint16 }).PeerVersion(); got != newestVersion {
			t.Errorf("the connection speaks version %d", got)
		}
		for _, size := range []int{1, 100, maxRecord - 1, maxRecord, maxRecord + 1, 1 << 20} {
			sent := make([]byte, size)
			r := rand.New(rand.NewPCG(1, uint64(size)))
			for i := range sent {
				sent[i] = byte(r.Uint32())
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := conn.Write(sent); err != nil {
					t.Error(err)
				}
			})
			got := make([]byte, size)
			if _, err := io.ReadFull(conn, got); err != nil {
				t.Fatal(err)
			}
			wg.Wait()
			if !bytes.Equal(sent, got) {
				t.Fatalf("%d bytes came back changed", size)
			}
		}

		other, _, err := a.Dial(t.Context(), b.Addr().String(), "", Control)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if got, want := <-met, (Peer{ID: "a", Incarnation: 9, Generation: 3, Purpose: Control, Version: newestVersion}); got != want {
			t.Errorf("accepted %+v, want %+v", got, want)
		}
		if _, err := other.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("read of a closed connection: %v, want EOF", err)
		}
	})
}

// Both ends hear whom they have met, and nothing of one that they refuse.
func TestBothEndsLearnTheirPeersIdentity(t *testing.T) {
	eachKey(t, func(t *testing.T, key []byte) {
		met := make(map[string]chan Peer)
		begin := func(id string) *Bus {
			heard := make(chan Peer, 8)
			met[id] = heard
			cfg := testConfig(id)
			cfg.Key, cfg.Met = key, func(p Peer) { heard <- p }
			return startBus(t, cfg)
		}
		a, b := begin("a"), begin("b")
		if _, _, err := a.Dial(t.Context(), b.Addr().String(), "another", Stream); err == nil {
			t.Error("another node than was meant is no refusal")
		}
		conn, _, err := a.Dial(t.Context(), b.Addr().String(), "b", Stream)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for end, other := range map[string]string{"a": "b", "b": "a"} {
			want := Peer{ID: other, Incarnation: 7, Generation: 3, Purpose: Stream, Version: newestVersion}
			if got := <-met[end]; got != want {
				t.Errorf("%s has met %+v, not %+v", end, got, want)
			}
			if len(met[end]) > 0 {
				t.Errorf("%s has met %+v, too", end, <-met[end])
			}
		}
	})
}

func TestCloseEndsEveryConnection(t *testing.T) {
	eachKey(t, func(t *testing.T, key []byte) {
		cfg := testConfig("b")
		cfg.Key = key
		b := startBus(t, cfg)
		cfg.ID = "a"
		a := startBus(t, cfg)
		conn, _, err := a.Dial(t.Context(), b.Addr().String(), "", Stream)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read after close: %v", err)
		}
		if _, _, err := a.Dial(t.Context(), b.Addr().String(), "", Stream); !errors.Is(err, ErrClosed) {
			t.Errorf("dial after close: %v", err)
		}
		if err := a.Start(); !errors.Is(err, ErrClosed) {
			t.Errorf("start after close: %v", err)
		}
	})
}

func TestDialEndsWithItsContext(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	a := startBus(t, testConfig("a"))
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() {
		_, _, err := a.Dial(ctx, silent.Addr().String(), "", Stream)
		result <- err
	}()
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("dial: %v, want it cancelled", err)
	}
}

func TestRaftLayerAcceptsAndDials(t *testing.T) {
	b := startBus(t, testConfig("b"))
	layer := b.RaftLayer()
	a := startBus(t, testConfig("a")).RaftLayer()
	conn, err := a.Dial(layer.Addr().String(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	accepted, err := layer.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	var got [1]byte
	if _, err := io.ReadFull(accepted, got[:]); err != nil || got[0] != 'x' {
		t.Errorf("got %q, %v", got, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := layer.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after close: %v", err)
	}
}
