package psync_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/resp/node/clustertest"
)

// reached waits until a writer has made so many changes.
func reached(t testing.TB, c doer, field string, least int) {
	t.Helper()
	resptest.WaitFor(t, fmt.Sprintf("%s of at least %d", field, least), func() bool {
		var n int
		_, _ = fmt.Sscan(infoField(t, c, field), &n)
		return n >= least
	})
}

func TestReplicaFollowsOneNode(t *testing.T) {
	randomtest.Draw(t, 3)
	seed := randomtest.Seed(t)
	c := clustertest.Start(t, clustertest.Config{Nodes: 1})
	cl := c.Client(0)
	w := startWriter(t, c, seed, true, 0, 0)
	reached(t, cl, "total_commands_processed", 2000)
	p := newProxy(t, c, 0)
	r := startReplica(t, p)
	reached(t, cl, "sync_full", 1)
	reached(t, cl, "total_commands_processed", 12_000)
	w.stop()
	awaitSame(t, c, 0, r)
	if n := infoField(t, cl, "sync_full"); n != "1" {
		t.Errorf("%s full synchronizations", n)
	}
	if n := infoField(t, cl, "replicas_values_skipped"); n != "0" {
		t.Errorf("%s values were skipped", n)
	}
}

// TestReplicaFollowsClusterThatChanges moves ranges by stopping and starting one node, and kills another.
func TestReplicaFollowsClusterThatChanges(t *testing.T) {
	randomtest.Draw(t, 3)
	seed := randomtest.Seed(t)
	c := clustertest.Start(t, clustertest.Config{Nodes: 3})
	cl := c.Client(0)
	w := startWriter(t, c, seed, true, 0, 0, 1, 2)
	p := newProxy(t, c, 0)
	r := startReplica(t, p)
	reached(t, cl, "sync_full", 1)
	c.Stop(1)
	reached(t, cl, "total_commands_processed", 4000)
	c.Start(1)
	c.AwaitSettled()
	c.Kill(2)
	reached(t, cl, "sync_full", 2)
	c.Start(2)
	c.AwaitSettled()
	w.stop()
	awaitSame(t, c, 1, r)
}

func TestReplicaGoesOnAfterCutLink(t *testing.T) {
	seed := randomtest.Seed(t)
	c := clustertest.Start(t, clustertest.Config{Nodes: 1}) // others could be too slow to confirm changes
	cl := c.Client(0)
	w := startWriter(t, c, seed, false, 0, 0)
	do(t, cl, "CONFIG SET repl-backlog-size 64mb")
	p := newProxy(t, c, 0)
	r := startReplica(t, p)
	reached(t, cl, "sync_full", 1)
	refused := infoField(t, cl, "sync_partial_err") // the replica may have had a master before
	for i := range 3 {
		resptest.WaitFor(t, "the link", func() bool { return infoField(t, r, "master_link_status") == "up" })
		p.cut(true)
		do(t, cl, "SET", fmt.Sprint("while cut ", i), strings.Repeat("x", 10_000))
		p.mend()
		reached(t, cl, "sync_partial_ok", i+1)
	}
	w.stop()
	awaitSame(t, c, 0, r)
	if n := infoField(t, cl, "sync_full"); n != "1" {
		t.Errorf("%s full synchronizations", n)
	}
	if n := infoField(t, cl, "sync_partial_err"); n != refused {
		t.Errorf("%s partial synchronizations were refused, %s before the link was cut", n, refused)
	}
}

func TestReplicaBeginsAnewAfterHistoryHasEnded(t *testing.T) {
	c := clustertest.Start(t, clustertest.Config{Nodes: 1})
	cl := c.Client(0)
	do(t, cl, "CONFIG SET repl-backlog-ttl 1")
	p := newProxy(t, c, 0)
	r := startReplica(t, p)
	do(t, cl, "SET before 1")
	awaitSame(t, c, 0, r)
	p.cut(true)
	resptest.WaitFor(t, "the end of the history", func() bool { return infoField(t, cl, "repl_backlog_active") == "0" })
	do(t, cl, "DEL before")
	do(t, cl, "SET after 1")
	p.mend()
	reached(t, cl, "sync_full", 2)
	reached(t, cl, "sync_partial_err", 1)
	awaitSame(t, c, 0, r)
}

func TestReplicaNeedsRights(t *testing.T) {
	c := clustertest.Start(t, clustertest.Config{Nodes: 1, Configure: func(_ int, cfg *node.Config) { cfg.RequirePass = "secret" }})
	cl := c.Client(0)
	do(t, cl, "AUTH secret")
	admin := cl.Conn()
	t.Cleanup(func() { _ = admin.Close() })
	do(t, admin, "AUTH secret")
	do(t, admin, "ACL SETUSER replica on >word +psync +replconf +ping")
	do(t, admin, "ACL SETUSER nobody on >word +ping +get ~*")
	do(t, admin, "SET key value")

	stranger := c.Client(0)
	if err := stranger.Do(context.Background(), "PSYNC", "?", "-1").Err(); err == nil || !strings.HasPrefix(err.Error(), "NOAUTH") {
		t.Errorf("without a password: %v", err)
	}
	other := stranger.Conn()
	t.Cleanup(func() { _ = other.Close() })
	do(t, other, "AUTH nobody word")
	for _, command := range []string{"PSYNC", "REPLCONF"} {
		if err := other.Do(context.Background(), command, "?", "-1").Err(); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
			t.Errorf("%s without the right: %v", command, err)
		}
	}
	p := newProxy(t, c, 0)
	r := startReplica(t, p)
	do(t, r, "CONFIG SET masteruser replica")
	do(t, r, "CONFIG SET masterauth word")
	resptest.WaitFor(t, "the key", func() bool { return do(t, r, "GET key") == "value" })
	// The user of the replica may read nothing, and the default user may be off: the values come all the same.
	do(t, admin, "ACL SETUSER default off")
	do(t, r, "CONFIG SET slave-read-only yes")
	writer := cl.Conn()
	t.Cleanup(func() { _ = writer.Close() })
	do(t, admin, "SET key other")
	resptest.WaitFor(t, "the change", func() bool { return do(t, r, "GET key") == "other" })
}

func TestReplicaShowsInLists(t *testing.T) {
	c := clustertest.Start(t, clustertest.Config{Nodes: 1})
	cl := c.Client(0)
	if got := do(t, cl, "ROLE"); !strings.HasPrefix(got, "[master 0 []") {
		t.Errorf("ROLE without replicas: %s", got)
	}
	p := newProxy(t, c, 0)
	r := startReplica(t, p)
	do(t, cl, "SET key value")
	awaitSame(t, c, 0, r)
	port := strings.Split(r.Options().Addr, ":")[1]
	if got := infoField(t, cl, "slave0"); !strings.Contains(got, ",port="+port+",state=online,offset=") {
		t.Errorf("slave0: %s", got)
	}
	if got := infoField(t, cl, "connected_slaves"); got != "1" {
		t.Errorf("%s replicas", got)
	}
	if here, there := infoField(t, cl, "master_replid"), infoField(t, r, "master_replid"); here != there {
		t.Errorf("the replication id is %s here, %s there", here, there)
	}
	if got := do(t, cl, "ROLE"); !strings.Contains(got, " "+port+" ") {
		t.Errorf("ROLE: %s", got)
	}
	resptest.WaitFor(t, "the replica to have acknowledged all", func() bool {
		return strings.Contains(infoField(t, cl, "slave0"), ",offset="+infoField(t, cl, "master_repl_offset")+",")
	})
	if list := do(t, cl, "CLIENT LIST TYPE replica"); strings.Count(list, "\n") != 1 || !strings.Contains(list, " flags=S ") || !strings.Contains(list, " cmd=psync ") {
		t.Errorf("CLIENT LIST TYPE replica: %s", list)
	}
	if n := do(t, cl, "CLIENT KILL TYPE replica"); n != "1" {
		t.Errorf("%s replicas were closed", n)
	}
	reached(t, cl, "sync_partial_ok", 1)
	if n := infoField(t, cl, "sync_full"); n != "1" {
		t.Errorf("%s full synchronizations", n)
	}
}

func TestReplicaGetsFunctionsAndValuesThatItsVersionKnows(t *testing.T) {
	c := clustertest.Start(t, clustertest.Config{Nodes: 2})
	cl := c.Client(0)
	library := func(name, reply string) string {
		return fmt.Sprintf("#!lua name=%s\nredis.register_function{function_name='%s', callback=function() return '%s' end, flags={'no-writes'}}", name, name, reply)
	}
	do(t, cl, "FUNCTION LOAD", library("first", "one"))
	do(t, cl, "HSET timed a 1 b 2")
	do(t, cl, "HPEXPIRE timed 3600000 FIELDS 1 a")
	do(t, cl, "HSET brief a 1 b 2")
	do(t, cl, "HPEXPIRE brief 300 FIELDS 1 a")
	p := newProxy(t, c, 0)
	r := startReplica(t, p)
	resptest.WaitFor(t, "the hash of which a field expires", func() bool { return do(t, r, "HGET timed a") == "1" })
	if got := do(t, r, "FCALL_RO first 0"); got != "one" {
		t.Errorf("the function returns %s", got)
	}
	resptest.WaitFor(t, "the end of a field", func() bool { return do(t, r, "HGETALL brief") == "map[b:2]" || do(t, r, "HGETALL brief") == "[b 2]" })
	do(t, cl, "FUNCTION LOAD", library("second", "two"))
	do(t, cl, "FUNCTION LOAD REPLACE", library("first", "three"))
	resptest.WaitFor(t, "the functions", func() bool {
		v, err := r.Do(context.Background(), "FCALL_RO", "second", 0).Result()
		w, _ := r.Do(context.Background(), "FCALL_RO", "first", 0).Result()
		return err == nil && v == "two" && w == "three"
	})
}

// A Redis without RedisJSON and RedisBloom follows without the values of these modules, and without an error that it
// could be set to stop at.
func TestReplicaWithoutModulesFollows(t *testing.T) {
	c := clustertest.Start(t, clustertest.Config{Nodes: 1})
	cl := c.Client(0)
	do(t, cl, "JSON.SET doc $ {}")
	do(t, cl, "BF.ADD seen x")
	do(t, cl, "SET string 1")
	p := newProxy(t, c, 0)
	r := startReplica(t, p, "--propagation-error-behavior", "panic-on-replicas")
	process := infoField(t, r, "run_id")
	resptest.WaitFor(t, "the string", func() bool { return do(t, r, "GET string") == "1" })
	do(t, cl, "DEL string")
	do(t, cl, "JSON.SET string $ [1]") // the replica must not keep the string
	do(t, cl, "PEXPIRE doc 100000")
	do(t, cl, "BF.MADD seen y z")
	do(t, cl, "SET last 1")
	resptest.WaitFor(t, "the end of the string", func() bool { return do(t, r, "DBSIZE") == "1" && do(t, r, "GET last") == "1" })
	do(t, cl, "DEL doc")
	do(t, cl, "SET doc 2")
	resptest.WaitFor(t, "the value of another type", func() bool { return do(t, r, "GET doc") == "2" })
	if n := infoField(t, cl, "sync_full"); n != "1" {
		t.Errorf("%s full synchronizations", n)
	}
	if now := infoField(t, r, "run_id"); now != process {
		t.Error("the replica was started anew")
	}
	reached(t, cl, "replicas_module_values", 2) // at least those of seen and string
}

// TestReplicaThatReadsNothingIsClosed speaks as a replica that loads the file and takes nothing after it.
func TestReplicaThatReadsNothingIsClosed(t *testing.T) {
	c := clustertest.Start(t, clustertest.Config{Nodes: 1})
	cl := c.Client(0)
	do(t, cl, "CONFIG SET client-output-buffer-limit", "replica 1mb 0 0")
	p := newProxy(t, c, 0)
	o := resptest.Dial(t, p.l.Addr().String(), 2)
	o.Want("+OK", "REPLCONF", "capa", "eof", "capa", "psync2")
	o.Send("PSYNC", "?", "-1")
	reached(t, cl, "sync_full", 1)
	var random strings.Builder // that does not become shorter by compression
	for r := rand.New(rand.NewPCG(1, 2)); random.Len() < 500_000; {
		random.WriteString(strconv.FormatUint(r.Uint64(), 36))
	}
	for i := range 60 {
		o.Send("REPLCONF", "ACK", "1")
		do(t, cl, "SET", fmt.Sprint("key", i), random.String())
	}
	resptest.WaitFor(t, "the end of the replica", func() bool {
		return infoField(t, cl, "replicas_closed") == "1" && infoField(t, cl, "connected_slaves") == "0"
	})
}
