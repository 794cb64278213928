package main

import (
	"bytes"
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
}

func newFakeServer() *fakeServer {
	f := &fakeServer{done: make(chan struct{}), closing: make(chan struct{}), closed: make(chan struct{})}
	close(f.closed)
	return f
}

func (f *fakeServer) Addr() net.Addr        { return &net.TCPAddr{IP: net.IPv4zero, Port: 6379} }
func (f *fakeServer) HTTPAddr() net.Addr    { return nil }
func (f *fakeServer) Done() <-chan struct{} { return f.done }
func (f *fakeServer) Err() error            { return f.err }

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
	go func() { r.result <- serve(cfg, open, r.signals, func(code int) { r.exited <- code }) }()
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
	case <-time.After(10 * time.Second):
		t.Fatalf("serve does not return; log:\n%s", r.log)
		return nil
	}
}

func TestSignalStopsInOrder(t *testing.T) {
	f := newFakeServer()
	r := start(node.DefaultConfig(), opening(f))
	r.signals <- syscall.SIGTERM
	if err := r.wait(t); err != nil {
		t.Error(err)
	}
	<-f.closing
	for _, want := range []string{"msg=listening addr=0.0.0.0:6379 http=off", "msg=stopping signal=terminated", "msg=stopped"} {
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
	}{{true, "clients of other hosts are refused"}, {false, "everybody who reaches this address"}} {
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
	log := logOptions{level: "warn", format: "json"}.logger(&b)
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
