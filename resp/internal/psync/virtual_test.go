package psync_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/resp/node/clustertest"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// A standIn is a replica in virtual time: it does what a redis-server does, and has its data in a cluster of one node.
type standIn struct {
	t       testing.TB
	dial    func() (net.Conn, error)
	data    *redis.Client
	target  *clustertest.Cluster
	cancel  context.CancelFunc
	running sync.WaitGroup

	id     string
	offset atomic.Int64
	full   atomic.Int64  // synchronizations
	slow   time.Duration // it waits so long before each command

	mu   sync.Mutex
	conn net.Conn
}

// startStandIn has a stand-in follow a node until the test ends.
func startStandIn(t testing.TB, c *clustertest.Cluster, node int) *standIn {
	t.Helper()
	addr := c.Addr(node)
	s := &standIn{t: t, target: clustertest.Start(t, clustertest.Config{Nodes: 1}), dial: func() (net.Conn, error) {
		return c.Dial(context.Background(), "tcp", addr)
	}}
	s.data = s.target.Client(0)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.running.Go(func() {
		for ctx.Err() == nil {
			if err := s.follow(ctx); err != nil && ctx.Err() == nil {
				time.Sleep(50 * time.Millisecond)
			}
		}
	})
	t.Cleanup(s.stop)
	return s
}

func (s *standIn) stop() {
	s.cancel()
	s.cut()
	s.running.Wait()
}

// cut breaks the connection.
func (s *standIn) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		_ = s.conn.Close()
	}
}

// follow follows over one connection.
func (s *standIn) follow(ctx context.Context) error {
	conn, err := s.dial()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	s.mu.Lock()
	s.conn = conn
	s.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	in := bufio.NewReader(conn)
	id, from := "?", int64(-1)
	if s.id != "" {
		id, from = s.id, s.offset.Load()+1
	}
	reply := ""
	for _, words := range [][]string{{"PING"}, {"REPLCONF", "listening-port", "1", "capa", "eof", "capa", "psync2"}, {"PSYNC", id, strconv.FormatInt(from, 10)}} {
		if _, err := conn.Write(wire.AppendRequest(nil, words...)); err != nil {
			return err
		}
		if reply, err = s.line(in); err != nil {
			return err
		}
	}
	var src io.Reader = in
	switch words := strings.Fields(reply); {
	case words[0] == "+FULLRESYNC":
		if src, err = s.load(in, words[1]); err != nil {
			return err
		}
		offset, _ := strconv.ParseInt(words[2], 10, 64)
		s.offset.Store(offset)
		s.full.Add(1)
		s.id = words[1]
	case reply != "+CONTINUE "+s.id:
		return fmt.Errorf("PSYNC: %s", reply)
	}
	return s.apply(conn, wire.NewReplyReader(src))
}

func (s *standIn) line(in *bufio.Reader) (string, error) {
	for {
		line, err := in.ReadString('\n')
		if text := strings.TrimSpace(line); text != "" || err != nil {
			return text, err
		}
	}
}

// load replaces the data by a file, and returns what follows it.
func (s *standIn) load(in *bufio.Reader, id string) (io.Reader, error) {
	line, err := s.line(in)
	mark, ok := strings.CutPrefix(line, "$EOF:")
	if err != nil || !ok {
		return nil, fmt.Errorf("no file: %s: %w", line, err)
	}
	s.do("FLUSHALL")
	r := rdbfile.NewReader(in, rdbfile.Config{MaxPart: math.MaxInt})
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if e.Kind == rdbfile.Key {
			s.do("SELECT", e.Database)
			s.do("RESTORE", e.Key, e.ExpireAt, e.Payload, "REPLACE", "ABSTTL")
		}
	}
	got := make([]byte, len(mark))
	rest := r.Rest()
	if _, err := io.ReadFull(rest, got); err != nil || string(got) != mark {
		return nil, fmt.Errorf("%q follows the file: %w", got, err)
	}
	s.do("SELECT", 0)
	return rest, nil
}

// do runs a command on the data. The client has one connection.
func (s *standIn) do(args ...any) {
	if err := s.data.Do(context.Background(), args...).Err(); err != nil && err != redis.Nil {
		s.t.Errorf("%.60v: %v", args, err)
	}
}

// apply applies the stream.
func (s *standIn) apply(conn net.Conn, in *wire.ReplyReader) error {
	for {
		if _, err := conn.Write(wire.AppendRequest(nil, "REPLCONF", "ACK", strconv.FormatInt(s.offset.Load(), 10))); err != nil {
			return err
		}
		command, err := in.Read()
		if err != nil {
			return err
		}
		if len(command.Values) == 0 {
			return fmt.Errorf("no command: %q", command.Text)
		}
		var args []any
		for _, word := range command.Values {
			args = append(args, string(word))
		}
		if args[0] != "PING" {
			s.do(args...)
		}
		s.offset.Add(int64(command.Size))
		time.Sleep(s.slow)
	}
}

// awaitSame waits until the stand-in has what the cluster has.
func (s *standIn) awaitSame(c *clustertest.Cluster, node int) {
	s.t.Helper()
	cfg := importer.FollowConfig{
		Config: importer.Config{
			Target: client.Config{Addrs: []string{s.target.Addr(0)}, Dial: dialer(s.target)}, Stats: new(importer.Stats), RetryFor: time.Minute,
		},
		Source: client.Config{Addrs: []string{c.Addr(node)}, Route: client.Forward, Dial: dialer(c)},
	}
	var compared *importer.Comparison
	var err error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if compared, err = importer.Verify(context.Background(), cfg); err == nil && compared.Different == 0 {
			return
		}
	}
	s.t.Fatalf("the replica does not get what the cluster has: %+v %v", compared, err)
}

func dialer(c *clustertest.Cluster) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, addr string) (net.Conn, error) { return c.Dial(ctx, "tcp", addr) }
}

// TestReplicaFollowsThroughMovesAndDeaths stops and starts a node, whose ranges move meanwhile, which no replica
// notices; the death of a node costs a full synchronization.
func TestReplicaFollowsThroughMovesAndDeaths(t *testing.T) {
	randomtest.Draw(t, 2)
	seed := randomtest.Seed(t)
	fakenet.Bubble(t, func(t *testing.T) {
		c := clustertest.Start(t, clustertest.Config{Nodes: 3, Latency: time.Millisecond})
		w := startWriter(t, c, seed, true, 5*time.Millisecond, 0, 1, 2)
		s := startStandIn(t, c, 0)
		time.Sleep(3 * time.Second)
		if n := s.full.Load(); n != 1 {
			t.Fatalf("%d full synchronizations at the begin", n)
		}
		c.Stop(1)
		time.Sleep(2 * time.Second)
		c.Start(1)
		c.AwaitSettled()
		for range 3 {
			s.cut()
			time.Sleep(time.Second)
		}
		if n := s.full.Load(); n != 1 {
			t.Errorf("%d full synchronizations after a node was stopped and started, and the link was cut", n)
		}
		c.Kill(2)
		time.Sleep(30 * time.Second)
		if n := s.full.Load(); n < 2 {
			t.Errorf("%d full synchronizations after the death of a node", n)
		}
		c.Start(2)
		c.AwaitSettled()
		w.stop()
		s.awaitSame(c, 1)
	})
}
