package importer_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/resptest"
	. "github.com/ringside-kv/ringside/resp/importer"
)

// startImport follows a source until the test ends, and returns the state file once all keys are copied.
func startImport(t *testing.T, source, target *redis.Client) (state string) {
	t.Helper()
	state = filepath.Join(t.TempDir(), "state")
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- Follow(ctx, followConfig(source, target, state)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	resptest.WaitFor(t, "first copy", func() bool {
		s, err := ReadState(state)
		return err == nil && s != nil && s.Loaded
	})
	return state
}

// wantNotPaused looks whether clients of a server can write; the pauses of this file last for an hour.
func wantNotPaused(t *testing.T, c *redis.Client) {
	t.Helper()
	do(t, c, "SET written now")
}

func TestCutoverHoldsWritesOfSource(t *testing.T) {
	source, target := startSource(t, "--repl-diskless-sync-delay", "0"), startTarget(t)
	do(t, source, "SET key value")
	state := startImport(t, source, target)
	do(t, source, "SET last write")
	r, err := Cutover(t.Context(), CutoverConfig{Source: targetConfig(source), State: state, Timeout: resptest.Patience, Hold: time.Hour})
	if err != nil || r.HeldUntil.IsZero() || r.Applied < r.Offset {
		t.Fatalf("%+v, %v", r, err)
	}
	if v := do(t, target, "GET last"); v != "write" {
		t.Errorf("the last write is %v", v)
	}
	written := make(chan error, 1)
	go func() { written <- source.Set(context.Background(), "after", "hold", 0).Err() }()
	resptest.WaitFor(t, "a client that is held", func() bool {
		return strings.Contains(source.Info(t.Context(), "clients").Val(), "blocked_clients:1")
	})
	do(t, source, "CLIENT UNPAUSE")
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// A client of another node, or of the primary, could write while the cutover says that writes are held.
func TestCutoverRefusesSourcesThatItCannotPause(t *testing.T) {
	source, target := startTarget(t), startTarget(t)
	do(t, source, "SET key value")
	cfg := CutoverConfig{Source: targetConfig(source), State: startImport(t, source, target), Timeout: resptest.Patience, Hold: time.Hour}
	if r, err := Cutover(t.Context(), cfg); !errors.Is(err, ErrNotPaused) || r != nil || !strings.Contains(err.Error(), "it is Ringside") {
		t.Errorf("%+v, %v", r, err)
	}
	wantNotPaused(t, source)

	primary, replica := startSource(t, "--repl-diskless-sync-delay", "0"), startSource(t, "--repl-diskless-sync-delay", "0")
	host, port, err := net.SplitHostPort(primary.Options().Addr)
	if err != nil {
		t.Fatal(err)
	}
	do(t, primary, "SET key value")
	do(t, replica, "REPLICAOF", host, port)
	defer do(t, replica, "REPLICAOF NO ONE")
	resptest.WaitFor(t, "replica", func() bool {
		return strings.Contains(replica.Info(t.Context(), "replication").Val(), "master_link_status:up")
	})
	state := startImport(t, replica, startTarget(t))
	cfg = CutoverConfig{Source: targetConfig(replica), State: state, Timeout: resptest.Patience, Hold: time.Hour}
	if r, err := Cutover(t.Context(), cfg); !errors.Is(err, ErrNotPaused) || r != nil || !strings.Contains(err.Error(), "cut over at the primary, "+primary.Options().Addr) {
		t.Errorf("%+v, %v", r, err)
	}
	wantNotPaused(t, primary)
	// The primary's stream is that of the replica.
	cfg.Source = targetConfig(primary)
	if r, err := Cutover(t.Context(), cfg); err != nil || r.HeldUntil.IsZero() {
		t.Errorf("%+v, %v", r, err)
	}
	do(t, primary, "CLIENT UNPAUSE")
}

// pausing is a connection to a source. It calls before when its clients are about to be paused.
type pausing struct {
	net.Conn
	before func()
}

func (c pausing) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "PAUSE\r\n") && !strings.Contains(string(p), "UNPAUSE") {
		c.before()
	}
	return c.Conn.Write(p)
}

// stopCutover stops a cutover while it waits for an import that does not run any more. When the clients of the source are
// paused, new connections fail with an error, unless it is nil.
func stopCutover(t *testing.T, source *redis.Client, refused error) error {
	t.Helper()
	do(t, source, "SET key value")
	state := filepath.Join(t.TempDir(), "state")
	once(t, followConfig(source, startTarget(t), state))
	cfg := CutoverConfig{Source: targetConfig(source), State: state, Timeout: time.Hour, Hold: time.Hour}
	paused := make(chan struct{})
	cfg.Source.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
		select {
		case <-paused:
			if refused != nil {
				return nil, refused
			}
		default:
		}
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", addr)
		return pausing{conn, func() {
			do(t, source, "SET key later")
			close(paused)
		}}, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over, written := make(chan error, 1), make(chan struct{})
	go func() {
		r, err := Cutover(ctx, cfg)
		if r != nil {
			t.Errorf("%+v", r)
		}
		over <- err
	}()
	go func() {
		defer close(written)
		select {
		case <-paused:
		case <-ctx.Done():
		}
		for ctx.Err() == nil {
			if err := source.Incr(context.Background(), "writes").Err(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	resptest.WaitFor(t, "a client that is held", func() bool {
		return strings.Contains(source.Info(t.Context(), "clients").Val(), "blocked_clients:1")
	})
	cancel()
	err := <-over
	if errors.Is(err, ErrStillPaused) {
		do(t, source, "CLIENT UNPAUSE")
	}
	<-written
	return err
}

func TestStoppedCutoverEndsThePause(t *testing.T) {
	err := stopCutover(t, startSource(t, "--repl-diskless-sync-delay", "0"), nil)
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrStillPaused) {
		t.Error(err)
	}
}

func TestStoppedCutoverSaysThatThePauseGoesOn(t *testing.T) {
	refused := errors.New("refused")
	err := stopCutover(t, startSource(t, "--repl-diskless-sync-delay", "0"), refused)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, ErrStillPaused) || !errors.Is(err, refused) || !strings.Contains(err.Error(), "CLIENT UNPAUSE") {
		t.Error(err)
	}
}
