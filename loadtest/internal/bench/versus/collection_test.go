package main

import (
	"errors"
	"testing"
)

// fakeLoad is a load on a fake server.
func fakeLoad(addr, command string) load { return testLoad(addr, command, 3, 16, 512) }

// Every command finds what it needs, to the last one.
func TestCommandsFindTheirData(t *testing.T) {
	addr := listenFake(t)
	for command := range rows.Commands {
		l := fakeLoad(addr, command)
		if command == "GET" {
			continue // of keys that fill writes
		}
		for round := range 2 { // the second finds what the first has left
			if l.do.Key != "" {
				if err := l.prepare(t.Context()); err != nil {
					t.Fatalf("%s: %v", command, err)
				}
			}
			if _, err := (driver{drive: driveOwn}).driveAll(t.Context(), l); err != nil {
				t.Errorf("%s, round %d: %v", command, round, err)
			}
		}
	}
}

func TestCollectionRunsEmpty(t *testing.T) {
	l := fakeLoad(listenFake(t), "SPOP")
	if err := l.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.requests += l.clients * l.Pipeline
	if _, err := (driver{drive: driveOwn}).driveAll(t.Context(), l); !errors.Is(err, errRanEmpty) {
		t.Errorf("the error is %v", err)
	}
}
