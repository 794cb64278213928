package tlsgossip

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ringside-kv/ringside/internal/certtest"
	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/members"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A host is one end of gossip.
type host struct {
	*Network
	listener net.Listener
	packets  net.PacketConn
	log      *lockedLog
}

type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newNetwork(t *testing.T, under members.Network, signs *certtest.Authority, trusts ...*certtest.Authority) *host {
	own, pool := signs.Pair(t, "node"), certtest.Pool(trusts...)
	log := new(lockedLog)
	return &host{log: log, Network: &Network{
		Under: under, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Client: func() *tls.Config {
			return &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, Certificates: []tls.Certificate{own},
				VerifyConnection: func(s tls.ConnectionState) error {
					_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool})
					return err
				}}
		},
		Server: func() *tls.Config {
			return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
				SessionTicketsDisabled: true}
		},
	}}
}

// listen opens the port of a host.
func (h *host) listen(t *testing.T, addr string) *host {
	t.Helper()
	var err error
	if h.listener, err = h.Listen(addr); err != nil {
		t.Fatal(err)
	}
	if h.packets, err = h.ListenPacket(h.listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	return h
}

func (h *host) close() { _, _ = h.packets.Close(), h.listener.Close() }

func (h *host) send(t *testing.T, to *host, text string) {
	t.Helper()
	if _, err := h.packets.WriteTo([]byte(text), to.packets.LocalAddr()); err != nil {
		t.Fatal(err)
	}
}

func (h *host) receive(t *testing.T) (text, from string) {
	t.Helper()
	b := make([]byte, 1<<16)
	n, addr, err := h.packets.ReadFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := addr.(*net.UDPAddr); !ok {
		t.Errorf("a packet comes from a %T", addr)
	}
	return string(b[:n]), addr.String()
}

func TestPacketsAndStreamsTravelThroughTLS(t *testing.T) {
	cluster := certtest.New(t, "cluster")
	a := newNetwork(t, members.System{}, cluster, cluster).listen(t, "127.0.0.1:0")
	b := newNetwork(t, members.System{}, cluster, cluster).listen(t, "127.0.0.1:0")
	for i, length := range []int{1, 1400, 1<<16 - 1} {
		for _, pair := range [][2]*host{{a, b}, {b, a}} {
			text := strings.Repeat(fmt.Sprint(i), length)
			pair[0].send(t, pair[1], text)
			if got, from := pair[1].receive(t); got != text || from != pair[0].listener.Addr().String() {
				t.Errorf("a packet of %d bytes from %s, want %d from %s", len(got), from, length, pair[0].listener.Addr())
			}
		}
	}
	if _, err := a.packets.WriteTo(make([]byte, 1<<16), b.packets.LocalAddr()); err == nil {
		t.Error("a packet is longer than its length can say")
	}
	go func() {
		conn, err := b.listener.Accept()
		if err != nil {
			return
		}
		_, _ = io.Copy(conn, io.LimitReader(conn, 4))
		_ = conn.Close()
	}()
	conn, err := a.Dial(t.Context(), b.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("ping")); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); string(got) != "ping" {
		t.Errorf("the echo is %q, %v", got, err)
	}
}

// TestStrangersAreRefused has processes without a certificate of the authority come to the port. The log says so.
func TestStrangersAreRefused(t *testing.T) {
	cluster, other := certtest.New(t, "cluster"), certtest.New(t, "other")
	a := newNetwork(t, members.System{}, cluster, cluster).listen(t, "127.0.0.1:0")
	addr := a.listener.Addr().String()
	stranger := newNetwork(t, members.System{}, other, cluster).listen(t, "127.0.0.1:0")
	if _, err := stranger.Dial(t.Context(), addr); err == nil || !strings.Contains(err.Error(), "remote error: tls") {
		t.Errorf("a stranger is told %v", err)
	}
	if _, err := a.Dial(t.Context(), stranger.listener.Addr().String()); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("a stranger is met with %v", err)
	}
	stranger.send(t, a, "from a stranger")
	for _, text := range []string{"plain gossip of memberlist", "\x16\x03\x01\x00\x05hello"} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(text))
		_, _ = io.ReadAll(conn)
		_ = conn.Close()
	}
	friend := newNetwork(t, members.System{}, cluster, cluster).listen(t, "127.0.0.1:0")
	friend.send(t, a, "from a friend")
	if got, _ := a.receive(t); got != "from a friend" {
		t.Errorf("the first packet is %q", got)
	}
	if got := strings.Count(a.log.String(), "level=WARN"); got == 0 || got > 60 {
		t.Errorf("%d warnings: %s", got, a.log)
	}
}

// TestSilentConnectionsKeepNobodyOut has more connections than there is room for say nothing.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	cluster := certtest.New(t, "cluster")
	a := newNetwork(t, members.System{}, cluster, cluster).listen(t, "127.0.0.1:0")
	for range maxHandshakes + 20 {
		conn, err := net.Dial("tcp", a.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	friend := newNetwork(t, members.System{}, cluster, cluster).listen(t, "127.0.0.1:0")
	friend.send(t, a, "x")
	a.receive(t)
	e := a.listener.(*endpoint)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.conns) > maxHandshakes+1 {
		t.Errorf("%d connections are open", len(e.conns))
	}
}

// TestPacketsFindANodeAgain has a route to a node fail and come back, and the node restart: packets are lost meanwhile, and
// arrive soon afterwards. Sending never waits.
func TestPacketsFindANodeAgain(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		cluster := certtest.New(t, "cluster")
		net := fakenet.New(1, time.Millisecond, 0)
		open := func(ip string) *host {
			return newNetwork(t, net.Host(ip), cluster, cluster).listen(t, ip+":7379")
		}
		a, b := open("10.0.0.1"), open("10.0.0.2")
		arrives := func(what string, limit time.Duration) {
			t.Helper()
			got := make(chan string, 1)
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			go func(b *host) {
				text := make([]byte, 100)
				n, _, _ := b.packets.ReadFrom(text)
				got <- string(text[:n])
			}(b)
			for {
				began := time.Now()
				a.send(t, b, "x")
				if took := time.Since(began); took > 0 {
					t.Errorf("%s: sending takes %v", what, took)
				}
				select {
				case <-got:
					return
				case <-ctx.Done():
					t.Fatalf("%s: nothing arrives within %v", what, limit)
				case <-time.After(100 * time.Millisecond):
				}
			}
		}
		arrives("at first", time.Second)
		net.Unplug("10.0.0.2", true)
		for range 300 {
			a.send(t, b, "lost")
			time.Sleep(100 * time.Millisecond)
		}
		net.Unplug("10.0.0.2", false)
		arrives("after a lost route", 15*time.Second)
		at := b.listener.Addr().String()
		b.close()
		time.Sleep(time.Second)
		b = newNetwork(t, net.Host("10.0.0.2"), cluster, cluster).listen(t, at)
		arrives("after a restart", time.Second)
		time.Sleep(2 * laneIdle)
		e := a.listener.(*endpoint)
		e.mu.Lock()
		if len(e.lanes) > 0 {
			t.Error("a lane that nothing is sent on stays")
		}
		e.mu.Unlock()
		a.close()
		b.close()
	})
}

// TestRemovedAuthorityEndsPackets removes the authority of a node that goes on to send.
func TestRemovedAuthorityEndsPackets(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		earlier, later := certtest.New(t, "earlier"), certtest.New(t, "later")
		net := fakenet.New(1, time.Millisecond, 0)
		a := newNetwork(t, net.Host("10.0.0.1"), earlier, earlier, later).listen(t, "10.0.0.1:7379")
		b := newNetwork(t, net.Host("10.0.0.2"), later, earlier, later).listen(t, "10.0.0.2:7379")
		a.send(t, b, "before")
		b.receive(t)
		b.Server = newNetwork(t, nil, later, later).Server
		time.Sleep(11 * time.Second)
		a.send(t, b, "after")
		time.Sleep(time.Minute)
		if n := len(b.listener.(*endpoint).packets); n > 0 {
			t.Errorf("%d packets of a removed authority arrive", n)
		}
		a.close()
		b.close()
	})
}

func FuzzPackets(f *testing.F) {
	f.Add(appendPacket(appendPacket(nil, []byte("one")), nil))
	f.Add([]byte{0, 9, 'x'})
	f.Add([]byte{0xff})
	f.Fuzz(func(t *testing.T, input []byte) {
		in := bytes.NewReader(input)
		var again []byte
		for {
			text, err := readPacket(in)
			if err != nil {
				break
			}
			again = appendPacket(again, text)
		}
		if !bytes.HasPrefix(input, again) {
			t.Errorf("%q is read as %q", input, again)
		}
	})
}
