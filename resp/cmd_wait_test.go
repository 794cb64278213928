package resp

import (
	"context"
	"net"
	"testing"
	"time"
)

// TestWaitLetsEarlierRepliesLeave before it waits, and runs what follows after it.
func TestWaitLetsEarlierRepliesLeave(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := dialRedis(t, addr, 2)
	start := time.Now()
	if _, err := o.c.Write([]byte("SET a 1\r\nPING\r\nWAIT 1 300\r\nGET a\r\n")); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"+OK", "+PONG", ":0", "$1"} {
		v, err := readValue(o.r)
		if err != nil || v.String() != want {
			t.Fatalf("reply %d: %s, %v", i, v, err)
		}
		if took := time.Since(start); (took > 250*time.Millisecond) != (i >= 2) {
			t.Errorf("reply %d came after %s", i, took)
		}
	}
}

// TestWaitReadsOn: what arrives meanwhile is run afterwards.
func TestWaitReadsOn(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := dialRedis(t, addr, 2)
	for _, part := range []string{"WAIT 2 200\r\n", "PI", "NG\r\nSET a", " 1\r\n"} {
		if _, err := o.c.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, want := range []string{":0", "+PONG", "+OK"} {
		if v, err := readValue(o.r); err != nil || v.String() != want {
			t.Fatalf("%s, %v; want %s", v, err, want)
		}
	}
	// More than the buffer takes.
	large := make([]byte, 200_000)
	for i := range large {
		large[i] = 'x'
	}
	if _, err := o.c.Write([]byte("WAIT 2 200\r\nECHO " + string(large[:50_000]) + "\r\nECHO " + string(large[:60_000]) + "\r\n")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 50_000, 60_000} {
		if v, err := readValue(o.r); err != nil || len(v.text) != want {
			t.Fatalf("%.100s, %v; want %d bytes", v, err, want)
		}
	}
	if v := o.do("WAIT", "1", "1"); v.text != "0" {
		t.Error(v)
	}
	time.Sleep(50 * time.Millisecond) // no deadline stays behind
	if v := o.do("PING"); v.text != "PONG" {
		t.Error(v)
	}
}

// TestWaitEndsWithItsClient and leaves nothing behind.
func TestWaitEndsWithItsClient(t *testing.T) {
	srv, addr := serveTest(t, nil)
	for _, more := range []string{"", "PING\r\n"} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("WAIT 1 0\r\n" + more)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		if n := srv.count.Load(); n != 1 {
			t.Fatalf("%d connections while one waits", n)
		}
		_ = c.Close()
		for deadline := time.Now().Add(5 * time.Second); srv.count.Load() > 0; {
			if time.Now().After(deadline) {
				t.Fatal("the connection outlives its client")
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func TestWaitEndsWhenTheConnectionIsClosed(t *testing.T) {
	srv, addr := serveTest(t, nil)
	for _, more := range []int{0, 100_000} { // an empty buffer, and a full one
		o := dialRedis(t, addr, 2)
		if _, err := o.c.Write(append([]byte("WAIT 1 0\r\n"), make([]byte, more)...)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		for _, c := range srv.snapshot() {
			c.close()
		}
		for deadline := time.Now().Add(5 * time.Second); srv.count.Load() > 0; {
			if time.Now().After(deadline) {
				t.Fatal("it still waits")
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// TestCloseEndsWait at once.
func TestCloseEndsWait(t *testing.T) {
	srv, addr := serveTest(t, nil)
	for _, more := range []int{0, 0, 100_000} {
		o := dialRedis(t, addr, 2)
		if _, err := o.c.Write(append([]byte("WAIT 1 0\r\n"), make([]byte, more)...)); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(50 * time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	start := time.Now()
	if err := srv.Close(ctx); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("closing took %s", took)
	}
}
