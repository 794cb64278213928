package client

import (
	"fmt"
	"sync"
	"testing"
)

// Who releases keeps its batches for as long as it likes; what comes behind them, at once
// or later, is handled meanwhile, in order.
func TestReleaseLetsOthersContinue(t *testing.T) {
	let := make(chan struct{})
	var mu sync.Mutex
	var order []string
	f := newFarEnd(t, nil)
	f.handleAll = func(batches []*Batch, release func(int)) {
		for i, b := range batches {
			mu.Lock()
			order = append(order, string(b.Commands))
			mu.Unlock()
			if b.Commands[0] == 'w' { // waits
				release(i + 1)
				<-let
				echo(b)
				return
			}
			echo(b)
		}
	}
	p := newTestPeer(t, PeerConfig{Dial: f.tcp(), Conns: 1})
	calls := make([]Call, 100)
	var want []string
	for i := range calls {
		text := fmt.Sprint("c", i)
		if i%30 == 7 {
			text = fmt.Sprint("w", i)
		}
		want = append(want, text)
		calls[i] = Call{Commands: []byte(text), N: 1}
		if err := p.Send(&calls[i]); err != nil {
			t.Fatal(err)
		}
		if i == 50 && calls[49].Wait() != nil {
			t.Fatal(calls[49].Err)
		}
	}
	for i := range calls {
		if calls[i].Commands[0] == 'c' && calls[i].Wait() != nil {
			t.Errorf("call %d: %v", i, calls[i].Err)
		}
	}
	close(let)
	for i := range calls {
		if err := calls[i].Wait(); err != nil || string(calls[i].Reply) != want[i] {
			t.Errorf("call %d: %q %v", i, calls[i].Reply, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if fmt.Sprint(order) != fmt.Sprint(want) {
		t.Errorf("handled in the order %v", order)
	}
}

// Serving ends only when everybody who has released has returned.
func TestServingWaitsForReleasedBatches(t *testing.T) {
	let, inside := make(chan struct{}), make(chan struct{})
	returned := false
	f := newFarEnd(t, nil)
	f.handleAll = func(batches []*Batch, release func(int)) {
		release(len(batches))
		close(inside)
		<-let
		returned = true // the race detector would tell
		echo(batches[0])
	}
	p := newTestPeer(t, PeerConfig{Dial: f.pipe, Conns: 1})
	call := Call{Commands: []byte("x"), N: 1}
	if err := p.Send(&call); err != nil {
		t.Fatal(err)
	}
	<-inside
	f.breakAll()
	if err := call.Wait(); err == nil {
		t.Error("a reply came over a broken connection")
	}
	close(let)
	f.served.Wait()
	if !returned {
		t.Error("it has ended before its handler")
	}
}
