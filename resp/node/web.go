package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/admin"
	"github.com/ringside-kv/ringside/resp/page"
)

// openWeb starts to serve HTTP, unless it is off.
func (n *Node) openWeb() (err error) {
	if n.cfg.HTTPAddr == HTTPOff {
		return nil
	}
	n.page = page.New(page.Config{
		Status: overview{n}.Status, Placement: n.placement, Decisions: n.decisions.Last, WhatIf: operator{n}.whatIf, Gather: n.metrics.Gather, Histories: overview{n}.Histories,
		Dial:          func(ctx context.Context, from net.Addr) (net.Conn, error) { return n.cfg.env.Local.DialFor(ctx, from) },
		Auth:          n.cfg.HTTPAuth,
		NeedsPassword: func(user string) bool { return resp.NeedsPassword(n.server, user) },
	})
	web := admin.Config{Health: &n.health, Metrics: n.metrics.Handler(), Home: n.page, Pages: n.page.Pages(), Hosts: n.cfg.hostNames(), Logger: n.cfg.Logger}
	if n.cfg.HTTPAuth {
		web.Admit = n.page.Admit
	}
	n.web, err = admin.New(web)
	if err != nil {
		n.page.Close()
		return err
	}
	listen := func(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }
	if n.webAt, err = n.cfg.env.Conns.Listen(listen, n.cfg.HTTPAddr); err != nil {
		n.web = nil
		n.page.Close()
		return fmt.Errorf("listen for HTTP: %w", err)
	}
	n.webServed = make(chan struct{})
	go func() {
		defer close(n.webServed)
		if err := n.web.Serve(n.webAt); !errors.Is(err, http.ErrServerClosed) {
			n.cfg.Logger.Error("the HTTP server has stopped", "err", err)
		}
	}()
	return nil
}

// hostNames returns the host names by which HTTP clients may call the node.
func (c Config) hostNames() []string {
	names := slices.Clone(c.HTTPHosts)
	for _, addr := range []string{c.Addr, c.HTTPAddr, c.Advertise} {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			host = addr
		}
		if host != "" && host != HTTPOff && host != AddrOff {
			names = append(names, host)
		}
	}
	return names
}

func (n *Node) closeWeb(ctx context.Context) error {
	if n.web == nil {
		return nil
	}
	n.page.Close() // whose streams would not end by themselves
	err := n.web.Close(ctx)
	_ = n.webAt.Close() // Serve may not have seen it yet
	<-n.webServed
	return err
}
