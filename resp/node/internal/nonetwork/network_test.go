package nonetwork

import (
	"errors"
	"net"
	"testing"
)

func TestNothingArrivesUntilClose(t *testing.T) {
	l, err := Network{}.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Network{}.ListenPacket("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	go func() {
		_, _, err := p.ReadFrom(make([]byte, 1))
		ended <- err
	}()
	if _, err := (Network{}).Dial(t.Context(), "127.0.0.1:7379"); !errors.Is(err, ErrNoNetwork) {
		t.Errorf("dial: %v", err)
	}
	if n, err := p.WriteTo([]byte("x"), p.LocalAddr()); n != 1 || err != nil {
		t.Errorf("write: %d, %v", n, err)
	}
	if len(ended) > 0 {
		t.Error("something arrived")
	}
	if err := errors.Join(l.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	}
	if _, err := p.WriteTo([]byte("x"), p.LocalAddr()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
}
