package client

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// A fake is some servers that answer as a test wants, over pipes, so that it runs in a
// bubble of virtual time.
type fake struct {
	t         testing.TB
	strategy  string
	mu        sync.Mutex
	servers   map[string]*fakeServer // by address
	placement *ring.Placement        // nil: nodes alone
	plain     bool                   // not of Ringside
	old       bool                   // RESP2 only
	password  string
	serving   sync.WaitGroup
}

type fakeServer struct {
	f    *fake
	addr string
	id   string
	// answer is the raw reply to a command that is not of the greeting; closeNow and
	// silence are none.
	answer func(args []string) string
	got    []string // the commands, in order
	conns  []net.Conn
	subs   []net.Conn
	down   bool // nobody listens
	hangs  bool // what dials waits
}

const (
	closeNow = "close"
	silence  = ""
)

func newFake(t testing.TB, n int) *fake {
	f := &fake{t: t, strategy: strategy.Buckets, servers: make(map[string]*fakeServer)}
	t.Cleanup(f.serving.Wait) // after all have stopped
	for i := range n {
		s := &fakeServer{f: f, id: fmt.Sprint("n", i), addr: fmt.Sprint("host", i, ":1")}
		s.answer = func([]string) string { return "+" + s.id + "\r\n" }
		f.servers[s.addr] = s
		t.Cleanup(s.stop)
	}
	return f
}

func (f *fake) at(i int) *fakeServer { return f.servers[fmt.Sprint("host", i, ":1")] }

// halves gives the lower half of the circle to one server, the upper to another.
func (f *fake) halves(epoch uint64, lower, upper string, backups ...string) *ring.Placement {
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Epoch: epoch, Primary: lower, Backups: without(backups, lower)},
		{Range: ring.Range{Start: 1 << 31}, Epoch: epoch, Primary: upper, Backups: without(backups, upper)},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

func without(ids []string, id string) (rest []string) {
	for _, other := range ids {
		if other != id {
			rest = append(rest, other)
		}
	}
	return rest
}

func (f *fake) dial(ctx context.Context, addr string) (net.Conn, error) {
	f.mu.Lock()
	s := f.servers[addr]
	hangs := s != nil && s.hangs
	if s == nil || s.down {
		f.mu.Unlock()
		return nil, fmt.Errorf("nobody listens at %s", addr)
	}
	f.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	near, far := net.Pipe()
	f.mu.Lock()
	s.conns = append(s.conns, far)
	f.mu.Unlock()
	f.serving.Go(func() { s.serve(far) })
	return near, nil
}

// config is that of a Ring which speaks to the fake.
func (f *fake) config() Config { return Config{Addrs: []string{"host0:1"}, Dial: f.dial} }

func (f *fake) open(change func(*Config)) *Ring {
	f.t.Helper()
	cfg := f.config()
	if change != nil {
		change(&cfg)
	}
	r, err := Open(context.Background(), cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(r.Close)
	return r
}

// set changes the fake.
func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// stop ends the server's connections and refuses new ones.
func (s *fakeServer) stop() {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	s.down = true
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.conns, s.subs = nil, nil
}

func (s *fakeServer) start() { s.f.set(func() { s.down = false }) }

// commands are what it was asked by callers so far.
func (s *fakeServer) commands() []string {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	return append([]string(nil), s.got...)
}

// push sends a change to who has subscribed.
func (s *fakeServer) push(text string) {
	s.f.mu.Lock()
	subs := append([]net.Conn(nil), s.subs...)
	s.f.mu.Unlock()
	for _, c := range subs {
		_, _ = io.WriteString(c, ">3\r\n"+bulk("message")+bulk(placementChannel)+bulk(text))
	}
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

func (s *fakeServer) serve(c net.Conn) {
	defer c.Close()
	// Replies leave on their own, so that a pipe without a buffer does not hold up
	// who sends.
	out := make(chan string, 10000)
	var writing sync.WaitGroup
	writing.Go(func() {
		for text := range out {
			if text == silence {
				continue
			}
			if _, err := io.WriteString(c, text); err != nil {
				_ = c.Close()
			}
		}
	})
	defer writing.Wait()
	defer close(out)
	requests := newReplyReader(c, 1<<30)
	authed := s.f.password == ""
	for {
		r, err := requests.next()
		if err != nil {
			return
		}
		args, err := r.Texts()
		if err != nil || len(args) == 0 {
			return
		}
		reply := s.reply(c, args, &authed)
		if reply == closeNow {
			return
		}
		out <- reply
	}
}

func (s *fakeServer) reply(c net.Conn, args []string, authed *bool) string {
	f := s.f
	f.mu.Lock()
	name := strings.ToUpper(args[0])
	if len(args) > 1 && (name == "RING" || name == "HASHMASK" || name == "CLIENT") {
		name += " " + strings.ToUpper(args[1])
	}
	if name == "HELLO" && !f.old && len(args) > 4 || name == "AUTH" {
		if args[len(args)-1] != f.password {
			f.mu.Unlock()
			return "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
		}
		*authed = true
	}
	if !*authed {
		f.mu.Unlock()
		return "-NOAUTH Authentication required.\r\n"
	}
	reply, known := f.greeting(s, c, name)
	answer := s.answer
	if !known {
		s.got = append(s.got, strings.Join(args, " "))
	}
	f.mu.Unlock()
	if !known {
		reply = answer(args)
	}
	return reply
}

// greeting is what a server says of itself.
func (f *fake) greeting(s *fakeServer, c net.Conn, name string) (reply string, known bool) {
	const unknown = "-ERR unknown command\r\n"
	if f.plain && (strings.HasPrefix(name, "RING") || strings.HasPrefix(name, "HASHMASK")) {
		return unknown, true
	}
	switch name {
	case "HELLO":
		if f.old {
			return unknown, true
		}
		return "%1\r\n+proto\r\n:3\r\n", true
	case "AUTH", "CLIENT SETNAME", "RING ROUTE":
		return "+OK\r\n", true
	case "COMMAND":
		row := func(name, flags string, first, last, step int) string {
			return fmt.Sprintf("*6\r\n$%d\r\n%s\r\n:-2\r\n*1\r\n+%s\r\n:%d\r\n:%d\r\n:%d\r\n", len(name), name, flags, first, last, step)
		}
		return "*6\r\n" + row("get", "readonly", 1, 1, 1) + row("set", "write", 1, 1, 1) + row("incr", "write", 1, 1, 1) +
			row("mget", "readonly", 1, -1, 1) + row("dbsize", "readonly", 0, 0, 0) + row("blpop", "blocking", 1, -2, 1), true
	case "HASHMASK SUBSCRIBE":
		s.subs = append(s.subs, c)
		return "+OK\r\n", true
	case "RING INFO":
		digest := "0"
		if f.placement != nil {
			text, _ := f.placement.MarshalText()
			digest = fmt.Sprint(len(text), string(text[max(0, len(text)-200):]))
			digest = strings.ReplaceAll(digest, "\n", "/")
		}
		return bulk("node:" + s.id + "\r\nstrategy:" + f.strategy + "\r\nhash:native\r\ndigest:" + digest + "\r\n"), true
	case "RING NODES":
		reply = fmt.Sprintf("*%d\r\n", len(f.servers))
		for _, s := range f.servers {
			reply += "%2\r\n+id\r\n" + bulk(s.id) + "+addr\r\n" + bulk(s.addr)
		}
		return reply, true
	case "RING PLACEMENT":
		if f.placement == nil {
			return "-ERR this node is not in a cluster and has no placement\r\n", true
		}
		b, err := f.placement.MarshalBinary()
		if err != nil {
			f.t.Error(err)
		}
		return bulk(string(b)), true
	}
	return "", false
}

// keyIn is a key of the lower or the upper half of the circle.
func (r *Ring) keyIn(upper bool) string {
	for i := 0; ; i++ {
		key := fmt.Sprint("key:", i)
		if r.owners.Load().tokenOf([]byte(key)) >= 1<<31 == upper {
			return key
		}
	}
}
