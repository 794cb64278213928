package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/resp/node"
)

// fakeServer is a node that only has a life.
type fakeServer struct {
	done     chan struct{}
	err      error
	closing  chan struct{} // closed by Close
	closed   chan struct{} // Close returns when it is closed
	closeErr error
	leave    func(context.Context) error // nil: nobody may ask
	reloaded node.Config                 // that Reload was last given
	strategy string
}

func newFakeServer() *fakeServer {
	f := &fakeServer{done: make(chan struct{}), closing: make(chan struct{}), closed: make(chan struct{})}
	close(f.closed)
	return f
}

func (f *fakeServer) ID() string            { return "fake" }
func (f *fakeServer) Addr() net.Addr        { return &net.TCPAddr{IP: net.IPv4zero, Port: 6379} }
func (f *fakeServer) HTTPAddr() net.Addr    { return nil }
func (f *fakeServer) Strategy() string      { return f.strategy }
func (f *fakeServer) Done() <-chan struct{} { return f.done }
func (f *fakeServer) Err() error            { return f.err }

func (f *fakeServer) Leave(ctx context.Context) error { return f.leave(ctx) }

func (f *fakeServer) Reload(cfg node.Config) error { f.reloaded = cfg; return nil }

func (f *fakeServer) Close() error {
	close(f.closing)
	<-f.closed
	return f.closeErr
}

// run is one call of serve.
type run struct {
	signals chan os.Signal
	exited  chan int
	result  chan error
	log     *lockedBuffer
}

func start(cfg node.Config, open func(node.Config) (server, error)) *run {
	r := &run{make(chan os.Signal, 2), make(chan int, 1), make(chan error, 1), &lockedBuffer{}}
	cfg.Logger = slog.New(slog.NewTextHandler(r.log, nil))
	go func() { r.result <- serve(cfg, open, r.signals, func(server) {}, func(code int) { r.exited <- code }) }()
	return r
}

func opening(f *fakeServer) func(node.Config) (server, error) {
	return func(node.Config) (server, error) { return f, nil }
}

func (r *run) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.result:
		return err
	case <-time.After(clusterPatience):
		t.Fatalf("serve does not return; log:\n%s", r.log)
		return nil
	}
}

func TestSignalStopsInOrder(t *testing.T) {
	f := newFakeServer()
	f.strategy = "vnode" // agreed by the cluster, while the setting is buckets
	r := start(node.DefaultConfig(), opening(f))
	r.signals <- syscall.SIGTERM
	if err := r.wait(t); err != nil {
		t.Error(err)
	}
	<-f.closing
	for _, want := range []string{"msg=listening addr=0.0.0.0:6379 http=off", "id=fake", "strategy=vnode", `connect="redis-cli -p 6379"`, "msg=stopping signal=terminated", "msg=stopped"} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("no %q in\n%s", want, r.log)
		}
	}
}

func TestSignalBeforeTheStartIsOver(t *testing.T) {
	f, begun, goOn := newFakeServer(), make(chan struct{}), make(chan struct{})
	r := start(node.DefaultConfig(), func(node.Config) (server, error) {
		close(begun)
		<-goOn
		return f, nil
	})
	<-begun
	r.signals <- syscall.SIGTERM
	close(goOn)
	if err := r.wait(t); err != nil {
		t.Error(err)
	}
	<-f.closing
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	f := newFakeServer()
	f.closed = make(chan struct{})
	r := start(node.DefaultConfig(), opening(f))
	r.signals <- os.Interrupt
	<-f.closing
	r.signals <- os.Interrupt
	if code := <-r.exited; code != 1 {
		t.Errorf("exit code %d", code)
	}
	close(f.closed)
	if err := r.wait(t); err != nil {
		t.Error(err)
	}
}

func TestShutdownByClient(t *testing.T) {
	f := newFakeServer()
	close(f.done)
	r := start(node.DefaultConfig(), opening(f))
	if err := r.wait(t); err != nil {
		t.Error(err)
	}
	<-f.closing
}

func TestFatalErrorFails(t *testing.T) {
	f := newFakeServer()
	f.err = errors.New("disk is gone")
	close(f.done)
	r := start(node.DefaultConfig(), opening(f))
	if err := r.wait(t); !errors.Is(err, errFailed) {
		t.Errorf("%v", err)
	}
	<-f.closing
	if !strings.Contains(r.log.String(), "disk is gone") {
		t.Errorf("the log does not say why:\n%s", r.log)
	}
}

func TestFailedStartAndStop(t *testing.T) {
	r := start(node.DefaultConfig(), func(node.Config) (server, error) { return nil, errors.New("directory in use") })
	if err := r.wait(t); !errors.Is(err, errFailed) || !strings.Contains(r.log.String(), "directory in use") {
		t.Errorf("%v\n%s", err, r.log)
	}
	f := newFakeServer()
	f.closeErr = errors.New("flush failed")
	close(f.done)
	r = start(node.DefaultConfig(), opening(f))
	if err := r.wait(t); !errors.Is(err, errFailed) || !strings.Contains(r.log.String(), "flush failed") {
		t.Errorf("%v\n%s", err, r.log)
	}
}

func TestCloseThatHangsIsGivenUp(t *testing.T) {
	f := newFakeServer()
	f.closed = make(chan struct{})
	defer close(f.closed)
	if err := closeWithin(f, time.Millisecond); !errors.Is(err, errCloseTimeout) {
		t.Errorf("%v", err)
	}
}

func TestOpenAddressIsWarnedOf(t *testing.T) {
	for _, tt := range []struct {
		protected bool
		want      string
	}{{true, "clients of other hosts are refused"}, {false, "every client that reaches this address"}} {
		f := newFakeServer()
		close(f.done)
		cfg := node.DefaultConfig()
		cfg.Addr, cfg.ProtectedMode = ":6379", tt.protected
		r := start(cfg, opening(f))
		if err := r.wait(t); err != nil || !strings.Contains(r.log.String(), tt.want) {
			t.Errorf("%v, no %q in\n%s", err, tt.want, r.log)
		}
	}
}

func TestLogForms(t *testing.T) {
	var b bytes.Buffer
	log := logOptions{level: "warn", format: "json"}.logger(&b, new(slog.LevelVar))
	log.Info("quiet")
	log.Warn("loud")
	if got := b.String(); strings.Contains(got, "quiet") || !strings.HasPrefix(got, "{") || !strings.Contains(got, `"msg":"loud"`) {
		t.Errorf("%q", got)
	}
}

// lockedBuffer takes a log of one goroutine while another reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// SIGTERM leaves if that is asked for, and only SIGTERM does.
func TestLeaveOnTerm(t *testing.T) {
	for _, tt := range []struct {
		name   string
		sig    os.Signal
		asked  bool
		err    error
		leaves bool
		want   error
		log    string
	}{
		{"leaves", syscall.SIGTERM, true, nil, true, nil, "left the cluster"},
		{"not asked", syscall.SIGTERM, false, nil, false, nil, "stopped"},
		{"interrupted", os.Interrupt, true, nil, false, nil, "stopped"},
		{"last store", syscall.SIGTERM, true, errors.New("no other store is left"), true, errFailed, "no other store is left"},
	} {
		f := newFakeServer()
		asked := false
		f.leave = func(context.Context) error { asked = true; return tt.err }
		cfg := node.DefaultConfig()
		cfg.LeaveOnTerm = tt.asked
		r := start(cfg, opening(f))
		r.signals <- tt.sig
		if err := r.wait(t); !errors.Is(err, tt.want) || asked != tt.leaves || !strings.Contains(r.log.String(), tt.log) {
			t.Errorf("%s: %v, asked to leave %v\n%s", tt.name, err, asked, r.log)
		}
		<-f.closing
	}
}

func TestLeavingEndsInTime(t *testing.T) {
	f := newFakeServer()
	f.leave = func(ctx context.Context) error {
		<-ctx.Done()
		return errors.New("3 ranges have stayed")
	}
	cfg := node.DefaultConfig()
	cfg.LeaveOnTerm, cfg.LeaveTimeout = true, time.Millisecond
	r := start(cfg, opening(f))
	r.signals <- syscall.SIGTERM
	if err := r.wait(t); !errors.Is(err, errFailed) || !strings.Contains(r.log.String(), "--leave-timeout 1ms is over: 3 ranges have stayed") {
		t.Errorf("%v\n%s", err, r.log)
	}
}

// A second signal ends at once, and a node that ends by itself does not go on leaving.
func TestLeavingIsCutShort(t *testing.T) {
	f := newFakeServer()
	begun := make(chan struct{})
	f.leave = func(ctx context.Context) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}
	cfg := node.DefaultConfig()
	cfg.LeaveOnTerm = true
	r := start(cfg, opening(f))
	r.signals <- syscall.SIGTERM
	<-begun
	r.signals <- syscall.SIGTERM
	if code := <-r.exited; code != 1 {
		t.Errorf("exit code %d", code)
	}
	close(f.done)
	if err := r.wait(t); !errors.Is(err, errFailed) {
		t.Error(err)
	}
}
