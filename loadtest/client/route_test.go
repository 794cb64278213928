package client

import (
	"bytes"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Each way to a real server gives the right answers, in both loops.
func TestRoutesToRedis(t *testing.T) {
	plain := redistest.Start(t, "--requirepass", "secret")
	cluster := redistest.StartCluster(t, "secret")
	for _, c := range []struct {
		route      Route
		addr, rate string
	}{
		{One, plain, ""}, {One, plain, "5000"}, {Any, plain, ""}, {Ring, plain, ""}, {Ring, plain, "5000"},
		{Ring, cluster, ""}, {Cluster, cluster, ""}, {Cluster, cluster, "5000"}, {Cluster, plain, ""},
	} {
		do(t, c.addr, "AUTH secret", "FLUSHALL")
		w := workloadOf(t, "4 get; 2 set; 1 mget 3; 1 mset 2; 1 del; 1 getset; 1 setnx; 1 exists")
		w.Prefix = "{tag}:"
		w.Rate, _ = workload.ParseRate(c.rate)
		cfg := Config{Workload: w, Targets: only(c.addr), Route: c.route, Pipeline: 4, Password: "secret"}
		verified(t, &cfg)
		l := open(t, cfg)
		if err := l.Fill(within(t), 1000); err != nil {
			t.Fatalf("%s: %v", c.route, err)
		}
		l.Start()
		untilDone(t, l, 500)
		r, err := l.Stop(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Recheck(within(t)); err != nil {
			t.Error(err)
		}
		all := r.Series.All()
		if c := cfg.Check.Checked(); c.Lost+c.Stale+c.Corrupt+c.FinalUnread > 0 || c.FinalKeys != 1000 || c.Reads < 1200 {
			t.Errorf("%+v", c)
		}
		if all.Failed > 0 || all.Read == 0 || all.Written == 0 || all.Operations < 500 {
			t.Errorf("%s: %+v", c.route, all.Clients)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// do sends commands to a server, of which none may fail.
func do(t *testing.T, addr string, commands ...string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := wire.NewReplyReader(c)
	for _, command := range commands {
		if _, err := c.Write(wire.AppendRequest(nil, bytes.Fields([]byte(command))...)); err != nil {
			t.Fatal(err)
		}
		var p *wire.Reply
		for p == nil {
			if err := in.Fill(); err != nil {
				t.Fatal(err)
			}
			if p, err = in.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if p.Kind == '-' {
			t.Fatalf("%s: %s", command, p.Text)
		}
	}
}

// A wrong password is told when the load is opened.
func TestWrongPasswordIsReported(t *testing.T) {
	addr := redistest.Start(t, "--requirepass", "secret")
	for _, route := range []Route{One, Ring, Cluster} {
		l, err := Open(within(t), Config{Workload: workloadOf(t, "1 get"), Targets: only(addr), Route: route, Password: "wrong"})
		if err == nil {
			t.Errorf("%s: it opens", route)
			_ = l.Close()
		} else if !bytes.Contains([]byte(err.Error()), []byte("WRONGPASS")) {
			t.Errorf("%s: %v", route, err)
		}
	}
}

type readerConn struct {
	net.Conn
	io.Reader
}

func (r readerConn) Read(p []byte) (int, error) { return r.Reader.Read(p) }

func TestRedirectsAreCountedHoweverTheyArrive(t *testing.T) {
	stream := []byte("+OK\r\n-MOVED 1 a:1\r\n$3\r\nabc\r\n-ASK 2 b:2\r\n-ERR\r\n-MOVED 3 c:3\r\n-MOVED 4 d:4\r\n:1\r\n")
	for name, src := range map[string]io.Reader{
		"at once": bytes.NewReader(stream), "byte by byte": iotest.OneByteReader(bytes.NewReader(stream)),
		"by halves": iotest.HalfReader(bytes.NewReader(stream)),
	} {
		var n atomic.Int64
		c := &countingConn{Conn: readerConn{Reader: src}, n: &n}
		p := make([]byte, 16)
		for _, err := c.Read(p); err == nil; _, err = c.Read(p) {
		}
		if n.Load() != 4 {
			t.Errorf("%s: %d", name, n.Load())
		}
	}
}
