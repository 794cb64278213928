package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/ring"
)

func (n *processNode) dir() string { return n.args[slices.Index(n.args, "--dir")+1] }

// copied waits until each range has a backup, each node serves, and nothing moves.
func (c *processCluster) copied(ids ...string) (p *ring.Placement) {
	c.t.Helper()
	last := ""
	c.await(fmt.Sprintf("%v have copies of everything", ids), func() bool {
		var err error
		if p, err = c.living()[0].placement(); err != nil {
			last = err.Error()
			return false
		}
		serve := map[string]int{}
		for row := range p.Rows() {
			serve[row.Primary]++
			if len(row.Backups) != 1 || len(row.Learners) != 0 {
				last = fmt.Sprintf("%+v", row)
				return false
			}
		}
		last = fmt.Sprint(serve)
		return len(serve) == len(ids)
	}, &last)
	return p
}

// holdings are the written keys of which a node has a copy, and those of which it has none.
func holdings(t *testing.T, n *processNode, p *ring.Placement, keys int) (has, lacks []int) {
	t.Helper()
	client := n.client()
	defer func() { _ = client.Close() }()
	for i := range keys {
		where, err := client.Do(t.Context(), "RING", "LOCATE", fill(i)).Result()
		if err != nil {
			t.Fatal(err)
		}
		r, err := ring.ParseRange(fmt.Sprint(where.(map[any]any)["range"]))
		if err != nil {
			t.Fatal(err)
		}
		if row := p.Lookup(r.Start); slices.Contains(slices.Collect(row.Copies()), n.id) {
			has = append(has, i)
		} else {
			lacks = append(lacks, i)
		}
	}
	return has, lacks
}

// recoverDirs runs ringside recover.
func recoverDirs(args ...string) (code int, out, log string) {
	var stdout, stderr strings.Builder
	a := app{args: append([]string{"recover"}, args...), stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}
	code = a.run()
	return code, stdout.String(), stderr.String()
}

// Two of three nodes are gone for good. What was acknowledged and has a copy on the third
// is there after ringside recover; what has none is refused, and nothing else. Then a node
// of the same name with a new directory takes part again.
func TestRecoverWithOneOfThree(t *testing.T) {
	t.Parallel() // it waits most of the time
	onlyAtLength(t)
	c := newProcessCluster(t, "buckets", "--forward-timeout", "3s")
	a, b, d := c.start("a"), c.start("b"), c.start("c")
	c.copied("a", "b", "c")
	const keys, size = 300, 60
	c.fill(a, keys, size)
	has, lacks := holdings(t, a, c.copied("a", "b", "c"), keys)
	if len(has) == 0 || len(lacks) == 0 {
		t.Fatalf("%d keys here, %d elsewhere", len(has), len(lacks))
	}
	b.kill()
	d.kill()
	for _, n := range []*processNode{b, d} {
		if err := os.RemoveAll(n.dir()); err != nil {
			t.Fatal(err)
		}
	}
	client := a.client()
	last := ""
	c.await("reads and writes are refused", func() bool {
		get := client.Get(context.Background(), fill(has[0])).Err()
		set := client.Set(context.Background(), fill(has[0]), "x", 0).Err()
		last = fmt.Sprint(get, set)
		return get != nil && set != nil && strings.HasPrefix(get.Error(), "CLUSTERDOWN") && strings.HasPrefix(set.Error(), "CLUSTERDOWN")
	}, &last)
	_ = client.Close()
	if code, _, log := recoverDirs("--dir", a.dir()); code != exitFailure || !strings.Contains(log, "stop it first") {
		t.Errorf("of a node that runs: %d, %s", code, log)
	}
	a.stop(syscall.SIGTERM)
	a.alive = false
	code, out, log := recoverDirs("--dir", a.dir(), "--dry-run")
	if code != 0 || !strings.Contains(out, "Nothing was changed") || !strings.Contains(out, "left out    b, c") {
		t.Fatalf("%d, %s%s", code, out, log)
	}
	if code, out, log = recoverDirs("--dir", a.dir()); code != 0 || !strings.Contains(out, "Done. Start a.") {
		t.Fatalf("%d, %s%s", code, out, log)
	}
	t.Log(out)
	if code, out, log = recoverDirs("--dir", a.dir()); code != 0 || !strings.Contains(out, "recovered already") {
		t.Fatalf("%d, %s%s", code, out, log)
	}
	c.restart(a)
	client = a.client()
	defer func() { _ = client.Close() }()
	c.await("what is left is served", func() bool {
		err := client.Get(context.Background(), fill(has[0])).Err()
		last = fmt.Sprint(err)
		return err == nil
	}, &last)
	check := func(client *redis.Client) {
		t.Helper()
		for _, i := range has {
			if got, err := client.Get(context.Background(), fill(i)).Result(); err != nil || got != fillValue(i, size) {
				t.Fatalf("%s: %q, %v", fill(i), got, err)
			}
		}
	}
	check(client)
	if err := client.Get(context.Background(), fill(lacks[0])).Err(); err == nil || !strings.HasPrefix(err.Error(), "CLUSTERDOWN") {
		t.Errorf("what nobody has: %v", err)
	}
	c.await("the lost ranges are given up", func() bool {
		err := client.Do(context.Background(), "RING", "RECREATE", "ALL").Err()
		last = fmt.Sprint(err)
		return err == nil
	}, &last)
	c.await("they are there, and empty", func() bool {
		err := client.Get(context.Background(), fill(lacks[0])).Err()
		last = fmt.Sprint(err)
		return err == redis.Nil
	}, &last)
	again := c.start("b")
	c.copied("a", "b")
	other := again.client()
	defer func() { _ = other.Close() }()
	began := time.Now()
	check(other)
	t.Log("through the new one in", time.Since(began))
}
