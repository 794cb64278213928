package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/loadtest/report"
)

// Names of the contenders.
const (
	asRingside   = "Ringside"
	asRedis      = "Redis"
	asNutcracker = "nutcracker" // before redis-servers
	asProxy      = "proxy"      // Ringside's forwarding before stand-ins, which cost as little as backends can
	asCluster    = "cluster"    // a proxy before Ringside nodes
	asOneCore    = "1 core"     // Ringside; others are "2 cores" and so on
)

// A contender can be started as a side of a pairing, with its data in dir.
type contender struct {
	name  string
	start func(one *side, dir string) error
}

// contenders are in the order of the table.
func (b *bout) contenders() []contender {
	if b.Mode == forwardMode {
		return []contender{{asNutcracker, b.startNutcracker}, {asProxy, b.startProxy}, {asCluster, b.startCluster}}
	}
	if b.Mode == coresMode {
		return b.coreCounts(runtime.NumCPU())
	}
	both := []contender{{asRingside, func(one *side, dir string) error {
		return one.start(ringsideLaunch(b.ringside, dir, b.Ringside...))
	}}}
	if b.redis != "" {
		both = append(both, contender{asRedis, func(one *side, dir string) error {
			flags := []string{"--appendonly", "yes", "--appendfsync", "everysec"}
			return one.start(redisLaunch(b.redis, dir, append(flags, b.Redis...)...))
		}})
	}
	return both
}

// coreCounts are Ringside with 1, 2, 4, … and all cores.
func (b *bout) coreCounts(all int) (sides []contender) {
	for n := 1; ; n = min(2*n, all) {
		sides = append(sides, contender{report.Plural(n, "core"), func(one *side, dir string) error {
			l := ringsideLaunch(b.ringside, dir)
			l.env = []string{fmt.Sprint("GOMAXPROCS=", n)}
			return one.start(l)
		}})
		if n >= all {
			return sides
		}
	}
}

// errLeftOut is the error of a contender that is not installed.
var errLeftOut = errors.New("not measured")

// nutcrackerConfig ends where the servers follow.
//
//go:embed nutcracker.yml
var nutcrackerConfig string

// startNutcracker starts redis-servers and nutcracker before them.
func (b *bout) startNutcracker(one *side, dir string) error {
	nutcracker, err := exec.LookPath("nutcracker")
	if err != nil {
		return fmt.Errorf("%w: %w", errLeftOut, err)
	}
	if b.redis == "" {
		return fmt.Errorf("%w: redis-server is not installed", errLeftOut)
	}
	for i := range b.opt.backends {
		data := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(data, 0o700); err != nil {
			return err
		}
		if err := one.start(redisLaunch(b.redis, data, "--appendonly", "no")); err != nil {
			return err
		}
	}
	at, _, err := freeport.Loopback(2)
	if err != nil {
		return err
	}
	config := []byte(strings.ReplaceAll(nutcrackerConfig, addrMark, at[0]))
	for i, addr := range one.addrs() {
		config = fmt.Appendf(config, "   - %s:1 backend%d\n", addr, i)
	}
	file := filepath.Join(dir, "nutcracker.yml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return err
	}
	_, stats, err := net.SplitHostPort(at[1])
	if err != nil {
		return err
	}
	return one.start(launch{name: asNutcracker, path: nutcracker, addr: at[0],
		args: []string{"-c", file, "-a", "127.0.0.1", "-s", stats, "-o", filepath.Join(dir, "nutcracker.log"), "-m", "16384"}})
}

// startProxy starts stand-ins for backends and the forwarding half of Ringside before them.
func (b *bout) startProxy(one *side, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for range b.opt.backends {
		if err := one.start(launch{name: "stand-in", path: self, silent: true, args: []string{actBackend, addrMark}}); err != nil {
			return err
		}
	}
	args := append([]string{actProxy, addrMark, filepath.Join(dir, "data")}, one.addrs()...)
	return one.start(launch{name: asProxy, path: self, args: args})
}

// startCluster starts Ringside nodes and a proxy that joins them, and waits until each node serves its share.
func (b *bout) startCluster(one *side, dir string) error {
	first := ""
	for i := range b.opt.backends + 1 {
		at, _, err := freeport.Loopback(2)
		if err != nil {
			return err
		}
		flags := []string{"--id", fmt.Sprint("node", i), "--gossip-addr", at[0], "--bus-addr", at[1]}
		if i == 0 {
			first = at[0]
		} else {
			flags = append(flags, "--join", first)
		}
		if i == b.opt.backends {
			flags = append(flags, "--role", "proxy")
		}
		if err := one.start(ringsideLaunch(b.ringside, filepath.Join(dir, fmt.Sprint(i)), flags...)); err != nil {
			return err
		}
	}
	limited, cancel := one.within(spreadLimit)
	defer cancel()
	return one.front().Await(limited, readyPoll, func(ctx context.Context) error {
		var primaries []int64
		for _, addr := range one.addrs()[:b.opt.backends] {
			info, err := cluster.Ask(ctx, addr, "RING", "INFO")
			if err != nil {
				return err
			}
			primaries = append(primaries, cluster.Numbers(info)["primaries"])
		}
		if least, most := slices.Min(primaries), slices.Max(primaries); least == 0 || most-least > 1 {
			return fmt.Errorf("the nodes serve %d ranges", primaries)
		}
		return nil
	})
}

const spreadLimit = 60 * time.Second
