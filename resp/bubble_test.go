package resp

import (
	"bufio"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// serveBubble serves in virtual time on a network in memory. The returned function connects.
func serveBubble(t *testing.T, change func(*Config)) (*Server, func() net.Conn) {
	t.Helper()
	st, err := store.Open(store.Config{Dir: "/d", FS: memdisk.New(), Strategy: "buckets", Hash: "native", Token: buckets.Token, ExpireFields: collection.ExpireFields})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Store: st}
	change(&cfg)
	srv, err := NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	network := fakenet.New(1, time.Millisecond, 0)
	l, err := network.Host("10.0.0.1").Listen("10.0.0.1:6379")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(l)
	}()
	t.Cleanup(func() {
		if err := srv.Close(context.Background()); err != nil {
			t.Error(err)
		}
		<-served
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv, func() net.Conn {
		c, err := network.Host("10.0.0.2").Dial(t.Context(), "10.0.0.1:6379")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}

// ask sends a line and returns the first line of the answer.
func ask(t *testing.T, c net.Conn, line string) string {
	t.Helper()
	// The server may have refused the connection and closed it: then its reason can be read still.
	_, _ = io.WriteString(c, line+"\r\n")
	answer, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return answer[:len(answer)-2]
}
