package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/internal/freeport"
)

// startNutcracker starts redis-servers and nutcracker before them.
func (c *contest) startNutcracker(ctx context.Context, dir string) (*contender, error) {
	nutcracker, err := lookFor("nutcracker")
	if err != nil {
		return nil, err
	}
	redis, err := lookFor("redis-server")
	if err != nil {
		return nil, err
	}
	one := &contender{}
	for i := range c.opt.backends {
		data := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(data, 0o700); err != nil {
			return one, err
		}
		l := redisLaunch(redis, data, []string{"--save", "", "--appendonly", "no"})
		if err := one.start(ctx, l); err != nil {
			return one, err
		}
	}
	var backends []string
	for _, s := range one.servers {
		backends = append(backends, s.addr)
	}
	err = one.start(ctx, launch{name: "nutcracker", path: nutcracker, ready: pings, args: func(host, port string) []string {
		config := filepath.Join(dir, "nutcracker.yml")
		// What cannot be written shows when it starts.
		_ = os.WriteFile(config, []byte(nutcrackerConfig(net.JoinHostPort(host, port), backends)), 0o600)
		stats := "0"
		if at, _, err := freeport.Loopback(1); err == nil {
			_, stats, _ = net.SplitHostPort(at[0])
		}
		return []string{"-c", config, "-a", host, "-s", stats, "-o", filepath.Join(dir, "nutcracker.log"), "-m", "16384"}
	}})
	return one, err
}

func nutcrackerConfig(listen string, backends []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "versus:\n  listen: %s\n  redis: true\n  hash: fnv1a_64\n  distribution: ketama\n", listen)
	fmt.Fprintf(&b, "  preconnect: true\n  auto_eject_hosts: false\n  backlog: 1024\n  servers:\n")
	for i, addr := range backends {
		fmt.Fprintf(&b, "   - %s:1 backend%d\n", addr, i)
	}
	return b.String()
}

// startProxy starts stand-ins for backends and the forwarding half of Ringside before
// them.
func (c *contest) startProxy(ctx context.Context, dir string) (*contender, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	one := &contender{}
	var backends []string
	for range c.opt.backends {
		err := one.start(ctx, launch{name: "stand-in", path: self, ready: listens, args: func(host, port string) []string {
			return []string{actBackend, net.JoinHostPort(host, port)}
		}})
		if err != nil {
			return one, err
		}
		backends = append(backends, one.front.addr)
	}
	return one, one.start(ctx, launch{name: "proxy", path: self, args: func(host, port string) []string {
		return append([]string{actProxy, net.JoinHostPort(host, port), filepath.Join(dir, "data")}, backends...)
	}})
}

// startCluster starts Ringside nodes and a proxy that joins them.
func (c *contest) startCluster(ctx context.Context, dir string) (*contender, error) {
	one := &contender{}
	first := ""
	node := func(i int, extra ...string) error {
		at, _, err := freeport.Loopback(2)
		if err != nil {
			return err
		}
		gossip, bus := at[0], at[1]
		extra = append(extra, "--id", fmt.Sprint("node", i), "--gossip-addr", gossip, "--bus-addr", bus)
		if first == "" {
			first = gossip
		} else {
			extra = append(extra, "--join", first)
		}
		return one.start(ctx, ringsideLaunch(c.ringside, filepath.Join(dir, fmt.Sprint(i)), extra))
	}
	for i := range c.opt.backends {
		if err := node(i); err != nil {
			return one, err
		}
	}
	if err := node(c.opt.backends, "--role", "proxy"); err != nil {
		return one, err
	}
	return one, one.spread(ctx)
}

// start starts one more process. The last is the front.
func (c *contender) start(ctx context.Context, l launch) error {
	s, err := startServer(ctx, l)
	if err != nil {
		return err
	}
	c.servers = append(c.servers, s)
	c.front = s
	return nil
}

// spread waits until every node but the proxy serves its share.
func (c *contender) spread(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, spreadLimit, fmt.Errorf("the nodes have no share each within %v", spreadLimit))
	defer cancel()
	for {
		least, most := 1<<30, 0
		for _, s := range c.servers[:len(c.servers)-1] {
			n := primaries(ctx, s)
			least, most = min(least, n), max(most, n)
		}
		if least > 0 && most-least <= 1 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(readyPoll):
		}
	}
}

const spreadLimit = 60 * time.Second

// primaries are how many ranges a node serves; 0 if it does not tell.
func primaries(ctx context.Context, s *server) int {
	conn, err := dial(ctx, s.addr)
	if err != nil {
		return 0
	}
	defer conn.Close()
	info, err := conn.do("RING", "INFO")
	if err != nil {
		return 0
	}
	text, _ := infoField(info, "primaries")
	n, _ := strconv.Atoi(text)
	return n
}

// pings is ready for servers that do not say who they are.
func pings(ctx context.Context, s *server) error {
	c, err := dial(ctx, s.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.do("PING")
	return err
}

// listens is ready for servers that do not speak RESP.
func listens(ctx context.Context, s *server) error {
	c, err := dial(ctx, s.addr)
	if err != nil {
		return err
	}
	return c.Close()
}
