package bus

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

func gen(n uint64) func(Purpose) uint64 { return func(Purpose) uint64 { return n } }

// TestMismatchesAreRefusedOnBothSides looks at each fault from the dialler, which
// is told by the acceptor, and from the acceptor's hello, as a dialler that finds
// it out by itself.
func TestMismatchesAreRefusedOnBothSides(t *testing.T) {
	otherKey := slices.Clone(testKey)
	otherKey[0]++
	tests := []struct {
		name   string
		change func(dialler *Config)
		want   []error
		text   string
	}{
		{"cluster", func(c *Config) { c.Cluster = "other" }, []error{ErrCluster}, `the cluster is "test" at node "b", "other" at node "a"`},
		{"generation", func(c *Config) { c.Generation = gen(4) }, []error{ErrGeneration}, "generation is 3"},
		{"strategy", func(c *Config) { c.Strategy = "ketama" }, []error{ErrStrategy}, `"ketama"`},
		{"hash", func(c *Config) { c.Hash = "slot" }, []error{ErrHash}, `"slot"`},
		{"same id", func(c *Config) { c.ID = "b" }, []error{ErrSameID}, `both sides are node "b"`},
		{"no key", func(c *Config) { c.Key = nil }, []error{ErrKey}, `node "a" has none`},
		{"other key", func(c *Config) { c.Key = otherKey }, []error{ErrKey}, "different cluster keys"},
		{"all at once", func(c *Config) { c.Cluster, c.Strategy, c.Hash, c.Generation = "o", "o", "o", gen(9) },
			[]error{ErrCluster, ErrStrategy, ErrHash, ErrGeneration}, "; "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			acceptor, dialler := testConfig("b"), testConfig("a")
			acceptor.Key, dialler.Key = testKey, testKey
			test.change(&dialler)
			dialler.EnsureDefaults()
			dialErr, acceptErr := meet(&dialler, &acceptor, "", Stream)
			for _, want := range test.want {
				if !errors.Is(dialErr, want) {
					t.Errorf("dialler: %v, want %v", dialErr, want)
				}
				if !errors.Is(acceptErr, want) {
					t.Errorf("acceptor: %v, want %v", acceptErr, want)
				}
			}
			for _, cause := range causes {
				if !slices.Contains(test.want, cause.err) && errors.Is(dialErr, cause.err) {
					t.Errorf("dialler: %v, which is also %v", dialErr, cause.err)
				}
			}
			if !strings.Contains(fmt.Sprint(dialErr), test.text) {
				t.Errorf("dialler: %v, want it to say %s", dialErr, test.text)
			}
			var refused *RefusedError
			if !errors.As(dialErr, &refused) || !refused.ByPeer {
				t.Errorf("dialler: %#v, want the peer's refusal", dialErr)
			}
		})
		t.Run(test.name+" found by the dialler", func(t *testing.T) {
			// This acceptor claims in its hello to be fine until the dialler looks.
			dialler, acceptor := testConfig("a"), testConfig("b")
			dialler.Key, acceptor.Key = testKey, testKey
			test.change(&acceptor)
			if test.name == "same id" {
				acceptor.ID = dialler.ID
			}
			dialler.EnsureDefaults()
			acceptor.EnsureDefaults()
			near, far := net.Pipe()
			defer near.Close()
			told := make(chan error, 1)
			go func() {
				defer far.Close()
				told <- acceptBlindly(&acceptor, far)
			}()
			_, _, err := dialHandshake(&dialler, near, "", Stream, true)
			for _, want := range test.want {
				if !errors.Is(err, want) {
					t.Errorf("dialler: %v, want %v", err, want)
				}
			}
			_ = near.Close()
			if got := <-told; !errors.Is(got, test.want[0]) {
				t.Errorf("acceptor was told %v, want %v", got, test.want[0])
			}
		})
	}
}

// TestAnotherKeyIsAcceptedWhileKeysChange has nodes meet that prove one key each and accept another.
func TestAnotherKeyIsAcceptedWhileKeysChange(t *testing.T) {
	earlier, later, strange := slices.Clone(testKey), slices.Clone(testKey), slices.Clone(testKey)
	later[0]++
	strange[0] += 2
	for name, test := range map[string]struct {
		dials, accepts, also []byte
		refused              bool
	}{
		"first round":             {earlier, earlier, later, false},
		"second round":            {later, earlier, later, false},
		"second round, backwards": {earlier, later, earlier, false},
		"after it":                {earlier, later, nil, true},
		"a stranger":              {strange, earlier, later, true},
		"no key":                  {nil, earlier, later, true},
	} {
		acceptor, dialler := testConfig("b"), testConfig("a")
		dialler.Key, acceptor.Key, acceptor.AcceptKey = test.dials, test.accepts, test.also
		dialErr, acceptErr := meet(&dialler, &acceptor, "", Stream)
		if test.refused != errors.Is(dialErr, ErrKey) || test.refused != errors.Is(acceptErr, ErrKey) || !test.refused && (dialErr != nil || acceptErr != nil) {
			t.Errorf("%s: %v, %v", name, dialErr, acceptErr)
		}
	}
}

// acceptBlindly accepts whoever comes, and returns what the dialler says to that.
func acceptBlindly(cfg *Config, conn net.Conn) error {
	h, err := newHandshake(cfg, conn)
	if err != nil {
		return err
	}
	if err := h.receiveHello(); err != nil {
		return err
	}
	h.mine = cfg.hello(h.theirs.purpose, "", h.theirs.ranged)
	if err := h.sendHello(); err != nil {
		return err
	}
	if err := h.agree(h.received, h.sent); err != nil {
		return err
	}
	if _, err := readFrame(conn, frameProof); err != nil {
		return err
	}
	if err := h.sendProof(frameWelcome, labelAcceptor); err != nil {
		return err
	}
	_, err = readFrame(conn, frameProof)
	return err
}

// meet runs both sides of a handshake over a pipe.
func meet(dialler, acceptor *Config, wantID string, purpose Purpose) (dialErr, acceptErr error) {
	dialler.EnsureDefaults()
	acceptor.EnsureDefaults()
	near, far := net.Pipe()
	defer near.Close()
	accepted := make(chan error, 1)
	go func() {
		_, _, err := acceptHandshake(acceptor, far, func(p Purpose) bool { return p == Stream })
		if err != nil {
			_ = far.Close()
		}
		accepted <- err
	}()
	_, _, dialErr = dialHandshake(dialler, near, wantID, purpose, dialler.Versions.Newest > unrangedVersion)
	if dialErr != nil {
		_ = near.Close()
	}
	return dialErr, <-accepted
}

func TestGenerationZeroMeetsAny(t *testing.T) {
	for _, g := range [][2]uint64{{0, 3}, {3, 0}, {0, 0}, {3, 3}} {
		a, b := testConfig("a"), testConfig("b")
		a.Generation, b.Generation = gen(g[0]), gen(g[1])
		if dialErr, acceptErr := meet(&a, &b, "", Stream); dialErr != nil || acceptErr != nil {
			t.Errorf("generations %v: %v, %v", g, dialErr, acceptErr)
		}
	}
}

// Two clusters may want the same newcomer: Raft waits until it has chosen.
func TestRaftNeedsAGenerationOnBothSides(t *testing.T) {
	for _, g := range [][2]uint64{{0, 3}, {3, 0}, {0, 0}} {
		a, b := testConfig("a"), testConfig("b")
		a.Generation, b.Generation = gen(g[0]), gen(g[1])
		if dialErr, acceptErr := meet(&a, &b, "", Raft); !errors.Is(dialErr, ErrGeneration) || !errors.Is(acceptErr, ErrGeneration) {
			t.Errorf("generations %v: %v, %v", g, dialErr, acceptErr)
		}
	}
}

func TestAnotherIDThanDialledIsRefused(t *testing.T) {
	eachKey(t, func(t *testing.T, key []byte) {
		a, b := testConfig("a"), testConfig("b")
		a.Key, b.Key = key, key
		dialErr, acceptErr := meet(&a, &b, "c", Stream)
		if !errors.Is(dialErr, ErrID) || !errors.Is(acceptErr, ErrID) {
			t.Errorf("got %v, %v", dialErr, acceptErr)
		}
		if dialErr, acceptErr := meet(&a, &b, "b", Stream); dialErr != nil || acceptErr != nil {
			t.Errorf("the right one: %v, %v", dialErr, acceptErr)
		}
	})
}

func TestUnknownPurposesAreRefused(t *testing.T) {
	for _, p := range []Purpose{0, Raft, Control, 99, 255} {
		a, b := testConfig("a"), testConfig("b")
		dialErr, acceptErr := meet(&a, &b, "", p)
		if !errors.Is(dialErr, ErrPurpose) || !errors.Is(acceptErr, ErrPurpose) {
			t.Errorf("%s: got %v, %v", p, dialErr, acceptErr)
		}
	}
}

func TestStrangersAreClosedWithoutAWord(t *testing.T) {
	b := startBus(t, testConfig("b"))
	for _, text := range []string{"*1\r\n$4\r\nPING\r\n", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01", "rsbus\x01\xff\xff"} {
		conn, err := net.Dial("tcp", b.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		// What was not read makes the close a reset on some systems.
		if answer, _ := io.ReadAll(conn); len(answer) > 0 {
			t.Errorf("%q: answered %q", text, answer)
		}
		_ = conn.Close()
	}
}

// A relay stands between two sides and notes what the dialler sends.
func recordDialler(t *testing.T, dialler, acceptor *Config, payload string) []byte {
	t.Helper()
	near, relayNear := net.Pipe()
	relayFar, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	var sent []byte
	relayed := make(chan struct{})
	go func() {
		defer close(relayed)
		buf := make([]byte, 4096)
		for {
			n, err := relayNear.Read(buf)
			sent = append(sent, buf[:n]...)
			if err != nil {
				_ = relayFar.Close()
				return
			}
			if _, err := relayFar.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	back := make(chan struct{})
	go func() { defer close(back); _, _ = io.Copy(relayNear, relayFar) }()
	accepted := make(chan string, 1)
	go func() {
		conn, _, err := acceptHandshake(acceptor, far, func(Purpose) bool { return true })
		if err != nil {
			accepted <- err.Error()
			return
		}
		got := make([]byte, len(payload))
		_, _ = io.ReadFull(conn, got)
		accepted <- string(got)
	}()
	conn, _, err := dialHandshake(dialler, near, "", Stream, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte(payload)); err != nil {
		t.Fatal(err)
	}
	if got := <-accepted; got != payload {
		t.Fatalf("acceptor: %s", got)
	}
	_ = near.Close()
	_ = far.Close()
	<-relayed
	<-back
	return sent
}

func TestReplayedHandshakeIsRefused(t *testing.T) {
	a, b := testConfig("a"), testConfig("b")
	a.Key, b.Key = testKey, testKey
	a.EnsureDefaults()
	b.EnsureDefaults()
	sent := recordDialler(t, &a, &b, "pay to the bearer")
	if strings.Contains(string(sent), "bearer") {
		t.Error("the payload travels in the clear")
	}
	near, far := net.Pipe()
	go func() {
		_, _ = near.Write(sent)
	}()
	drained := make(chan error, 1)
	go func() {
		// Its hello, then what it says to the old proof.
		if _, err := readFrame(near, frameHello); err != nil {
			drained <- err
			return
		}
		_, err := readFrame(near, frameWelcome)
		drained <- err
	}()
	_, _, err := acceptHandshake(&b, far, func(Purpose) bool { return true })
	if !errors.Is(err, ErrKey) {
		t.Errorf("acceptor: %v, want %v", err, ErrKey)
	}
	if err := <-drained; !errors.Is(err, ErrKey) {
		t.Errorf("the replay is told %v", err)
	}
	_ = near.Close()
	_ = far.Close()
}

func TestEchoedProofIsRefused(t *testing.T) {
	a := testConfig("a")
	a.Key = testKey
	a.EnsureDefaults()
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); _, _ = io.Copy(far, far) }()
	_ = near.SetDeadline(time.Now().Add(time.Minute))
	if _, _, err := dialHandshake(&a, near, "", Stream, true); err == nil {
		t.Error("a mirror was taken for a peer")
	}
	_ = near.Close()
	_ = far.Close()
	<-done
}

// A changed byte anywhere in the dialler's hello must end the handshake, even where
// nothing compares it: the proofs cover all of it.
func TestAlteredHandshakeFails(t *testing.T) {
	a, b := testConfig("a"), testConfig("b")
	a.Key, b.Key = testKey, testKey
	a.EnsureDefaults()
	b.EnsureDefaults()
	size := frameHead + len(a.helloBytes())
	for at := range size {
		fakenet.Bubble(t, func(t *testing.T) {
			near, relayNear := net.Pipe()
			relayFar, far := net.Pipe()
			go func() {
				buf := make([]byte, size)
				_, _ = io.ReadFull(relayNear, buf)
				buf[at] ^= 1
				_, _ = relayFar.Write(buf)
				_, _ = io.Copy(relayFar, relayNear)
				_ = relayFar.Close()
			}()
			go func() { _, _ = io.Copy(relayNear, relayFar); _ = relayNear.Close() }()
			accepted := make(chan error, 1)
			go func() {
				_ = far.SetDeadline(time.Now().Add(time.Second)) // a longer length never comes
				_, _, err := acceptHandshake(&b, far, func(Purpose) bool { return true })
				_ = far.Close()
				accepted <- err
			}()
			_, _, err := dialHandshake(&a, near, "", Stream, true)
			_ = near.Close()
			if acceptErr := <-accepted; err == nil || acceptErr == nil {
				t.Errorf("byte %d changed: dialler %v, acceptor %v", at, err, acceptErr)
			}
		})
	}
}

func (c *Config) helloBytes() []byte {
	h := c.hello(Stream, "", true)
	return h.encode()
}

func TestConfigReportsEveryFault(t *testing.T) {
	_, err := Listen(Config{Key: []byte("short"), HandshakeTimeout: -1, MaxHandshakes: -1})
	for _, want := range []string{"node id", "cluster of", "strategy", "hash", "key", "listen", "time-out", "handshakes"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("nothing about %s in: %v", want, err)
		}
	}
}
