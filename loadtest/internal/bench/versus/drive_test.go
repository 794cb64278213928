package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// listenFake serves a fake server in this process.
func listenFake(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go fakeServe(l)
	return l.Addr().String()
}

func TestOwnDriverDrivesEveryCommand(t *testing.T) {
	addr := listenFake(t)
	if err := fill(t.Context(), addr, 1001, 64); err != nil {
		t.Fatal(err)
	}
	commands := []string{"SET", "GET", "INCR", "MSET"}
	for _, r := range recipes {
		commands = append(commands, r.command)
	}
	for _, command := range commands {
		for _, pipeline := range []int{1, 16} {
			f, err := ownDriver{}.drive(t.Context(), load{addr: addr, command: command, valueSize: 64,
				pipeline: pipeline, requests: 500, clients: 3, keys: 1001})
			if err != nil {
				t.Errorf("%s: %v", command, err)
			} else if f.OpsPerSec <= 0 || f.P50 <= 0 || f.P99 < f.P50 {
				t.Errorf("%s: %+v", command, f)
			}
		}
	}
}

func TestOwnDriverMissesKeys(t *testing.T) {
	_, err := ownDriver{}.drive(t.Context(), load{addr: listenFake(t), command: "GET", valueSize: 64,
		pipeline: 4, requests: 100, clients: 2, keys: 10})
	if !errors.Is(err, errUnexpectedValue) {
		t.Errorf("the error is %v", err)
	}
}

func TestOwnDriverEndsWithItsContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("over"))
	defer cancel()
	_, err = ownDriver{}.drive(ctx, load{addr: l.Addr().String(), command: "INCR",
		pipeline: 1, requests: 100, clients: 2, keys: 10})
	if err == nil || err.Error() != "over" {
		t.Errorf("the error is %v", err)
	}
}

func TestBatchReplacesKeys(t *testing.T) {
	b, err := newBatch("MSET", 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.keys) != 2*msetKeys || len(b.values) != 2*msetKeys {
		t.Fatalf("%d keys and %d values", len(b.keys), len(b.values))
	}
	b.setKey(2*msetKeys-1, 987654321)
	if !strings.HasSuffix(string(b.wire), "$16\r\nkey:000987654321\r\n$3\r\n"+string(b.pool[:3])+"\r\n") {
		t.Errorf("the batch ends with %q", b.wire[len(b.wire)-60:])
	}
}
