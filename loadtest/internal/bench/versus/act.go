package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"runtime/debug"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// First arguments by which this command is started as a part of a contest:
//
//	as-backend host:port                       a stand-in for a backend
//	as-proxy host:port directory backend ...   forwards everything to such
const (
	actBackend = "as-backend"
	actProxy   = "as-proxy"
)

// act plays a part until the context ends. ok is false if args name none.
func act(ctx context.Context, args []string) (ok bool, err error) {
	switch {
	case len(args) == 2 && args[0] == actBackend:
		debug.SetGCPercent(400)
		runtime.GOMAXPROCS(1) // one thread for Go code, as redis-server has one for commands
		return true, serveStandIn(ctx, args[1])
	case len(args) > 3 && args[0] == actProxy:
		debug.SetGCPercent(400) // as ringside serve does
		runtime.GOMAXPROCS(node.ProxyThreads())
		return true, actAsProxy(ctx, args[1], args[2], args[3:])
	}
	return false, nil
}

// actAsProxy is what a node in role proxy does with a client's requests, without the
// cluster: the placement never changes, and the backends are found by their addresses.
func actAsProxy(ctx context.Context, addr, dir string, backends []string) error {
	st, err := store.Open(store.Config{Dir: dir, Strategy: "buckets", Hash: "native", Token: buckets.Token})
	if err != nil {
		return err
	}
	srv, err := resp.NewServer(resp.Config{Store: st, NodeID: "proxy", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return errors.Join(err, st.Close())
	}
	routes := &resp.Routes{Self: "proxy", Nodes: make(map[string]resp.Route)}
	var rows []ring.Row
	var peers []*client.Peer
	for i, backend := range backends {
		peer, err := client.NewPeer(client.PeerConfig{Dial: func(ctx context.Context) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", backend)
		}})
		if err != nil {
			return err
		}
		peers = append(peers, peer)
		id := fmt.Sprint("backend", i)
		rows = append(rows, ring.Row{
			Range:   ring.Range{Start: share(i, len(backends)), End: share(i+1, len(backends))},
			Primary: id,
		})
		routes.Nodes[id] = resp.Route{ID: id, Addr: backend, Link: node.NewLink(peer)}
	}
	if routes.Placement, err = ring.NewPlacement(rows); err != nil {
		return err
	}
	srv.SetRoutes(routes)
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = srv.Close(context.Background()) })()
	err = srv.Serve(l)
	for _, p := range peers {
		p.Close()
	}
	if errors.Is(err, resp.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, st.Close())
}

// share is where the i-th of n equal ranges begins.
func share(i, n int) ring.Token { return ring.Token((uint64(i) << 32) / uint64(n)) }
