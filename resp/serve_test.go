package resp

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// serveTest starts a server on an empty store and returns its address.
func serveTest(t testing.TB, change func(*Config, *store.Config)) (*Server, string) {
	t.Helper()
	sc := store.Config{Dir: t.TempDir(), Strategy: "buckets", Hash: "native", Token: buckets.Token, Cache: 8 << 20, MemTable: 2 << 20, ExpireFields: collection.ExpireFields}
	cfg := Config{Settings: Settings{ProtectedMode: true}, Debug: "local", Version: "0.0.0-test"}
	if change != nil {
		change(&cfg, &sc)
	}
	st, err := store.Open(sc)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store = st
	srv, err := NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		if err := srv.Close(context.Background()); err != nil && !errors.Is(err, ErrServerClosed) {
			t.Error(err)
		}
		<-served
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv, l.Addr().String()
}
