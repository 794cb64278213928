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

// testLoad is a load of three clients on 1001 keys.
func testLoad(addr, command string, valueSize, pipeline, requests int) load {
	w := workload{Command: command, do: rows.Commands[command], Pipeline: pipeline, requests: requests, valueSize: valueSize}
	return load{workload: w, addr: addr, clients: 3, keys: 1001}
}

func TestOwnDriverDrivesEveryCommand(t *testing.T) {
	addr := listenFake(t)
	if err := fill(t.Context(), addr, 1001, 64); err != nil {
		t.Fatal(err)
	}
	for command := range rows.Commands {
		for _, pipeline := range []int{1, 16} {
			f, err := driveOwn(t.Context(), testLoad(addr, command, 64, pipeline, 500))
			if err != nil {
				t.Errorf("%s: %v", command, err)
			} else if f.OpsPerSec <= 0 || f.P50 <= 0 || f.P99 < f.P50 {
				t.Errorf("%s: %+v", command, f)
			}
		}
	}
}

func TestOwnDriverMissesKeys(t *testing.T) {
	_, err := driveOwn(t.Context(), testLoad(listenFake(t), "GET", 64, 4, 100))
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
	_, err = driveOwn(ctx, testLoad(l.Addr().String(), "INCR", 0, 1, 100))
	if err == nil || err.Error() != "over" {
		t.Errorf("the error is %v", err)
	}
}

func TestBatchReplacesKeys(t *testing.T) {
	l := testLoad("", "MSET", 3, 2, 0)
	b := newBatch(&l.workload)
	const msetKeys = 10
	if len(b.numbers) != 2*msetKeys || len(b.values) != 2*msetKeys {
		t.Fatalf("%d keys and %d values", len(b.numbers), len(b.values))
	}
	b.setNumber(2*msetKeys-1, 987654321)
	if !strings.HasSuffix(string(b.wire), "$16\r\nkey:000987654321\r\n$3\r\n"+l.value()+"\r\n") {
		t.Errorf("the batch ends with %q", b.wire[len(b.wire)-60:])
	}
}
