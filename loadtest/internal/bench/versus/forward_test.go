package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/resp/client"
)

// The parts that this command plays in a contest work together: what is written through
// the proxy comes back from the stand-ins, and both end when they are told.
func TestProxyBeforeStandIns(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 4)
	var backends []string
	for range 3 {
		addr := freeAddr(t)
		backends = append(backends, addr)
		go func() { ended <- serveStandIn(ctx, addr) }()
	}
	front := freeAddr(t)
	dir := filepath.Join(t.TempDir(), "data")
	go func() { ended <- actAsProxy(ctx, front, dir, backends) }()
	if err := awaitAnswer(ctx, front); err != nil {
		t.Fatal(err)
	}
	if err := fill(ctx, front, 2000, 64); err != nil {
		t.Error(err)
	}
	c, err := cluster.DialContext(ctx, front)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do("LPUSH", "k", "v"); err == nil {
		t.Error("LPUSH is answered")
	}
	if _, err := c.Do("STRLEN", "key:000000000001"); err == nil {
		t.Error("a stand-in knows STRLEN")
	}
	c.Close()
	stop()
	for range 4 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func freeAddr(t *testing.T) string {
	t.Helper()
	at, release, err := freeport.Loopback(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return at[0]
}

// awaitAnswer tries until a SET is answered: the backends may not listen yet.
func awaitAnswer(ctx context.Context, addr string) error {
	var last error
	for range 3000 {
		c, err := cluster.DialContext(ctx, addr)
		if err == nil {
			for i := range 30 {
				if _, err = c.Do("SET", fmt.Sprint("try", i), "1"); err != nil {
					break
				}
			}
			c.Close()
		}
		if last = err; err == nil {
			return nil
		}
		time.Sleep(readyPoll)
	}
	return last
}

// Whatever commands arrive, there are as many replies.
func FuzzStandIn(f *testing.F) {
	f.Add([]byte("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"), 1)
	f.Add([]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"), 2)
	f.Add([]byte("*9\r\n$99999999999999999999\r\n"), 3)
	f.Fuzz(func(t *testing.T, commands []byte, n int) {
		n = min(max(n, 1), 1000)
		replies, lens := newStandIn().answer(&client.Batch{Commands: commands, N: n}, nil, nil)
		sum := 0
		for _, l := range lens {
			sum += int(l)
		}
		if len(lens) != n || sum != len(replies) {
			t.Errorf("%d replies of %d bytes in %d to %d commands", len(lens), sum, len(replies), n)
		}
	})
}

func TestRatiosAreThoseOfEachRound(t *testing.T) {
	round := func(ops ...float64) (s []sample) {
		for _, n := range ops {
			front, all := n/10, n/5
			s = append(s, sample{figures: figures{OpsPerSec: n}, FrontCPU: &front, AllCPU: &all})
		}
		return s
	}
	sides := []sideResult{
		{Name: asNutcracker, Samples: round(100, 200, 50)},
		{Name: asProxy, Samples: round(200, 300, 150)},
		{Name: asCluster, Samples: round(100, 100, 100)},
	}
	get := workload{Command: "GET", Pipeline: 16, MinRatio: 1.6}
	w := newResult(get, sides)
	if r := w.Contenders[1].Ratio; w.Contenders[0].Ratio != nil || *r != (spread{2, 1.5, 3}) {
		t.Errorf("%+v", w.Contenders)
	}
	var out bytes.Buffer
	forwardTable.row(&out, forwardTable.head...)
	forwardTable.printRows(&out, &w)
	forwardTable.printFoot(&out, false)
	for _, want := range []string{"GET P16 nutcracker", "2.00", "1.50–3.00", "≥ 1.6 reached"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	alone := newResult(get, []sideResult{{Name: asProxy, Samples: round(1)}})
	if alone.Contenders[0].Ratio != nil {
		t.Error("a ratio to nobody")
	}
}

// Real nutcracker takes the configuration, forwards, and ends with the contender.
func TestNutcrackerContender(t *testing.T) {
	opt := options{backends: 2, keys: 200, clients: 2, requests: 400, rounds: 1}
	redis, _ := exec.LookPath("redis-server")
	b := bout{session: &session{opt: opt, redis: redis}}
	one := newSide(t.Context(), "")
	defer one.stop()
	err := b.startNutcracker(one, t.TempDir())
	if errors.Is(err, errLeftOut) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(t.Context(), one.front().addr, opt.keys, 64); err != nil {
		t.Error(err)
	}
	if used, _ := one.cpu(); len(used) != 3 || one.alive.Err() != nil {
		t.Error(used, context.Cause(one.alive))
	}
}

func TestMissingProgramsAreLeftOut(t *testing.T) {
	t.Setenv("PATH", "")
	b := bout{session: &session{}}
	if err := b.startNutcracker(new(side), ""); !errors.Is(err, errLeftOut) || !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
}
