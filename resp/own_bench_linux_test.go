package resp

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// BenchmarkOwnKeys gives the same pipelines in turn to a server that is alone and to one
// of three, which serves their keys, and shows the CPU time of a command on the first and
// the second, and its ratio: the median of the rounds and their quartiles. Clients cost nothing
// here, so that nothing hides a difference.
//
//	go test -run '^$' -bench OwnKeys -benchtime 2s ./resp
func BenchmarkOwnKeys(b *testing.B) {
	for _, command := range []string{"GET", "SET"} {
		for _, depth := range []int{1, 16} {
			b.Run(fmt.Sprint(command, "/P", depth), func(b *testing.B) {
				benchOwnKeys(b, command, depth, func(_, member *Server, p *ring.Placement) { member.SetRoutes(routesOfThree(p)) })
			})
		}
	}
}

// BenchmarkLease is the same with one of three nodes, which answers without a lease, and
// under one whose clock is read for each pipeline.
//
//	go test -run '^$' -bench Lease -benchtime 2s ./resp
func BenchmarkLease(b *testing.B) {
	for _, command := range []string{"GET", "SET"} {
		for _, depth := range []int{1, 16} {
			b.Run(fmt.Sprint(command, "/P", depth), func(b *testing.B) {
				benchOwnKeys(b, command, depth, func(free, leased *Server, p *ring.Placement) {
					leased.SetLease(timeLease{time.Now().Add(time.Hour)})
					free.SetRoutes(routesOfThree(p))
					leased.SetRoutes(routesOfThree(p))
				})
			})
		}
	}
}

// A timeLease looks at the time, as one must.
type timeLease struct{ until time.Time }

func (l timeLease) Mark() (spell, rows uint64) { return 0, 0 }
func (l timeLease) HeldSince(uint64) bool      { return time.Now().Before(l.until) }

func (l timeLease) WaitUnchanged(uint64, []ring.Token, time.Duration, <-chan struct{}, <-chan struct{}) bool {
	return false
}

func routesOfThree(p *ring.Placement) *Routes {
	return &Routes{Placement: p, Self: "n0", Nodes: map[string]Route{"n0": {ID: "n0"}, "n1": {ID: "n1"}, "n2": {ID: "n2"}}}
}

// benchOwnKeys compares two servers of which one, or both, were made to be one of three.
func benchOwnKeys(b *testing.B, command string, depth int, prepare func(first, second *Server, p *ring.Placement)) {
	lone, _ := serveTest(b, nil)
	member, _ := serveTest(b, nil)
	p := threeNodes(b)
	prepare(lone, member, p)
	value := strings.Repeat("v", 64)
	var pipelines [][]byte
	unit := member.store.NewUnit()
	for i := 0; len(pipelines) < 256; {
		var sent []byte
		for n := 0; n < depth; i++ {
			key := fmt.Sprint("key:", i)
			if p.Lookup(unit.Place([]byte(key)).Token()).Primary != "n0" {
				continue
			}
			n++
			if command == "GET" {
				sent = wire.AppendRequest(sent, "GET", key)
			} else {
				sent = wire.AppendRequest(sent, "SET", key, value)
			}
			for _, srv := range []*Server{lone, member} {
				feedAll(srv, [][]byte{wire.AppendRequest(nil, "SET", key, value)}, 1)
			}
		}
		pipelines = append(pipelines, sent)
	}
	servers := []*Server{lone, member}
	took := [2]time.Duration{}
	var ratios []float64
	perTurn := max(1, 4096/depth)
	b.ResetTimer()
	for done, round := 0, 0; done < b.N || round < 2; round++ {
		var turn [2]time.Duration
		for i := range servers {
			i = (i + round) % 2
			start := cpuUsed(b)
			feedAll(servers[i], pipelines, perTurn)
			turn[i] = cpuUsed(b) - start
			took[i] += turn[i]
		}
		done += perTurn * depth
		ratios = append(ratios, float64(turn[1])/float64(turn[0]))
		b.ReportMetric(0, "ns/op")
	}
	slices.Sort(ratios)
	at := func(q float64) float64 { return ratios[int(q*float64(len(ratios)-1))] }
	commands := float64(len(ratios) * perTurn * depth)
	b.ReportMetric(float64(took[0].Nanoseconds())/commands, "first-ns/op")
	b.ReportMetric(float64(took[1].Nanoseconds())/commands, "second-ns/op")
	b.ReportMetric(at(0.5), "ratio")
	b.ReportMetric(at(0.25), "ratio-q1")
	b.ReportMetric(at(0.75), "ratio-q3")
}

// cpuUsed is the CPU time of the process: other work of the machine does not count.
func cpuUsed(b *testing.B) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); err != nil {
		b.Fatal(err)
	}
	return time.Duration(now.Nano())
}

// threeNodes is a placement of 256 ranges on three nodes.
func threeNodes(t testing.TB) *ring.Placement {
	rnd := rand.New(rand.NewPCG(1, 2))
	rows := make([]ring.Row, 256)
	for i := range rows {
		rows[i] = ring.Row{
			Range:   ring.Range{Start: ring.Token(i) << 24, End: ring.Token(i+1) << 24},
			Primary: fmt.Sprint("n", rnd.IntN(3)),
		}
	}
	p, err := ring.NewPlacement(rows)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// feedAll has a server run pipelines, in turn, so many in all.
func feedAll(srv *Server, pipelines [][]byte, count int) {
	nc := &fedConn{pipelines: pipelines, left: count}
	c := newConn(srv, nc)
	srv.mu.Lock()
	srv.conns[c.session.id] = c
	srv.count.Add(1)
	srv.mu.Unlock()
	c.serve()
}

// A fedConn is a client that reads everything at once.
type fedConn struct {
	net.Conn
	pipelines [][]byte
	left      int
	rest      []byte
}

func (f *fedConn) Read(b []byte) (int, error) {
	if len(f.rest) == 0 {
		if f.left == 0 {
			return 0, io.EOF
		}
		f.left--
		f.rest = f.pipelines[f.left%len(f.pipelines)]
	}
	n := copy(b, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (f *fedConn) Write(b []byte) (int, error)     { return len(b), nil }
func (f *fedConn) Close() error                    { return nil }
func (f *fedConn) SetReadDeadline(time.Time) error { return nil }
func (f *fedConn) RemoteAddr() net.Addr            { return forwardedAddr{} }
func (f *fedConn) LocalAddr() net.Addr             { return forwardedAddr{} }
