package importer_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	. "github.com/ringside-kv/ringside/resp/importer"
)

func TestVerifyTellsDifferencesByKey(t *testing.T) {
	source, target := startSource(t, "--repl-diskless-sync-delay", "0"), startTarget(t)
	fill(t, source, rand.New(rand.NewPCG(21, 22)))
	once(t, followConfig(source, target, ""))
	verify := func() *Comparison {
		t.Helper()
		c, err := Verify(context.Background(), followConfig(source, target, ""))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	all := source.DBSize(context.Background()).Val() + 1
	if c := verify(); c.Different != 0 || c.Keys < all {
		t.Errorf("%+v, want %d keys", c, all)
	}
	do(t, target, "SET extra 1")
	do(t, target, "DEL user:1")
	do(t, target, "HSET hash2 0-0 other")
	do(t, target, "PEXPIRE zset2 5000000")
	do(t, target, "LPUSH list3 more")
	do(t, target, "XACK stream2 g 0-1") // changes nothing
	do(t, target, "XGROUP SETID stream3 g 0")
	do(t, target, "SET set0 text")
	c := verify()
	found := make(map[string]string)
	for _, d := range c.Differences {
		found[d.Key] = d.Reason
	}
	if len(found) != 7 || c.Different != 7 || found["extra"] != "only the target has it" || found["user:1"] != "the target does not have it" ||
		found["hash2"] != "the values differ" || found["zset2"][:8] != "expires " || found["list3"] == "" || found["stream3"] == "" || found["set0"] == "" {
		t.Errorf("%v", c)
	}
	file := saved(t, source)
	c, err := VerifyFile(context.Background(), bytes.NewReader(file), Config{Target: targetConfig(target)})
	if err != nil || c.Different != 6 || c.Keys != all {
		t.Errorf("%+v %v", c, err)
	}
}

// TestForkThatKnowsLessThanItsVersion imports from a server that says that it is of Redis 7 and has no PEXPIRETIME.
func TestForkThatKnowsLessThanItsVersion(t *testing.T) {
	source, target := startSource(t, "--repl-diskless-sync-delay", "0", "--rename-command", "PEXPIRETIME", ""), startTarget(t)
	fill(t, source, rand.New(rand.NewPCG(23, 24)))
	do(t, source, "SET soon value PX 5000000")
	once(t, followConfig(source, target, ""))
	c, err := Verify(context.Background(), followConfig(source, target, ""))
	if err != nil || c.Different != 0 || c.Keys < source.DBSize(context.Background()).Val() {
		t.Errorf("%+v %v", c, err)
	}
	if left := target.PTTL(context.Background(), "soon").Val(); left < time.Minute {
		t.Errorf("the key expires in %v", left)
	}
}

func TestCutoverPausesWritesUntilAllIsApplied(t *testing.T) {
	source, target := startSource(t, "--repl-diskless-sync-delay", "0"), startTarget(t)
	fill(t, source, rand.New(rand.NewPCG(23, 24)))
	state := filepath.Join(t.TempDir(), "state")
	cutover := CutoverConfig{Source: targetConfig(source), State: state, Timeout: resptest.Patience}
	if _, err := Cutover(context.Background(), cutover); !errors.Is(err, ErrState) {
		t.Errorf("without an import: %v", err)
	}
	once(t, followConfig(source, target, state))
	do(t, source, "SET after import")
	quick := cutover
	quick.Timeout = time.Millisecond
	if _, err := Cutover(context.Background(), quick); !errors.Is(err, ErrBehind) {
		t.Errorf("with an import that does not run: %v", err)
	}
	do(t, source, "SET not paused")

	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- Follow(ctx, followConfig(source, target, state)) }()
	stop := writer(t, source, 25)
	resptest.WaitFor(t, "state", func() bool { s, _ := ReadState(state); return s != nil && s.Offset > 10_000 })
	cutover.Hold = time.Hour
	r, err := Cutover(context.Background(), cutover)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("pause %v", r.Pause)
	if r.Applied < r.Offset || r.Offset < 10_000 || r.HeldUntil.IsZero() {
		t.Errorf("%+v", r)
	}
	// The source stays paused, so both have the same keys.
	wantSame(t, source, target, 0, 0)
	wantSame(t, source, target, 3, 3)
	do(t, source, "CLIENT UNPAUSE")
	stop()
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
