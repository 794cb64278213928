package resp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// keyspaceOf is all keys with their types, values and expiries.
func keyspaceOf(o *resptest.Conn) string {
	var names []string
	for _, v := range o.Do("KEYS", "*").Elems {
		names = append(names, v.Text)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, key := range names {
		fmt.Fprintf(&b, "%s %s %q %s\n", key, o.Do("TYPE", key).Text, o.Do("DUMP", key).Text, o.Do("PEXPIRETIME", key).Text)
	}
	fmt.Fprintf(&b, "%s keys\n", o.Do("DBSIZE").Text)
	return b.String()
}

// atomicSeeds make a key of each type, all with one tag. atomicChanges change them.
var atomicSeeds = []string{
	"SET {t}s v EX 10000", "SET {t}i 5", "RPUSH {t}l a b c", "SADD {t}e a b c", "HSET {t}h f 1 g 2", "ZADD {t}z 1 a 2 b",
	"XADD {t}x 1-1 f v", "PFADD {t}p a b", "SETBIT {t}b 100 1", "GEOADD {t}g 13 38 here", "SET {t}big " + strings.Repeat("x", 70<<10),
}

var atomicChanges = []string{
	"SET {t}s w", "SET {t}n new", "APPEND {t}s more", "PERSIST {t}s", "EXPIRE {t}s 5000", "DEL {t}s", "INCR {t}i", "INCRBYFLOAT {t}i 1.5", "LPUSH {t}l z", "RPOP {t}l",
	"LSET {t}l 0 q", "LTRIM {t}l 1 1", "SADD {t}e d", "SREM {t}e a", "SPOP {t}e", "SMOVE {t}e {t}e2 b", "HSET {t}h f 7 n 8", "HDEL {t}h g", "HINCRBY {t}h f 3",
	"HEXPIRE {t}h 1000 FIELDS 1 f", "ZADD {t}z 5 a", "ZPOPMIN {t}z", "ZRANGESTORE {t}z2 {t}z 0 -1", "XADD {t}x 2-1 f w", "XTRIM {t}x MAXLEN 0", "XGROUP CREATE {t}x grp 0",
	"PFADD {t}p c d e", "SETBIT {t}b 7 1", "SETRANGE {t}big 66000 patched", "RENAME {t}l {t}l2", "COPY {t}h {t}h2", "UNLINK {t}big", "SINTERSTORE {t}e3 {t}e {t}e",
	"BITOP NOT {t}b2 {t}b", "GETDEL {t}i", "LMOVE {t}l {t}l LEFT RIGHT", "SORT {t}l ALPHA STORE {t}sorted", "GEOSEARCHSTORE {t}g2 {t}g FROMLONLAT 13 38 BYRADIUS 10 km",
}

// atomicFaults fail at any time: their key is a list that nothing changes.
var atomicFaults = []string{"INCR {t}list", "HSET {t}list f v", "LSET {t}list 99 x", "EVAL return{err='no'} 0", "SETRANGE {t}s -1 x", "XADD {t}list * f v"}

func runLines(o *resptest.Conn, lines ...string) {
	for _, line := range lines {
		o.Do(strings.Fields(line)...)
	}
}

// An error anywhere in a transaction undoes all of it, through whichever node, and whatever it has changed.
func TestAtomicTransactionIsUndoneByAnError(t *testing.T) {
	r := routedTest(t, 3)
	rnd := rand.New(rand.NewPCG(1, randomtest.Seed(t)))
	for i := range r.servers {
		for _, proto := range []int{2, 3} {
			o := resptest.Dial(t, r.addrs[i], proto)
			o.Want("$off", "RING", "ATOMIC")
			o.Want("+OK", "RING", "ATOMIC", "ON")
			o.Want("$on", "RING", "ATOMIC")
			for range 40 {
				o.Do("FLUSHALL")
				runLines(o, atomicSeeds...)
				runLines(o, "RPUSH {t}list only")
				before := keyspaceOf(o)
				var lines []string
				for range 1 + rnd.IntN(8) {
					lines = append(lines, atomicChanges[rnd.IntN(len(atomicChanges))])
				}
				fault := atomicFaults[rnd.IntN(len(atomicFaults))]
				lines = slices.Insert(lines, rnd.IntN(len(lines)+1), fault)
				runLines(o, "MULTI")
				runLines(o, lines...)
				reply := o.Do("EXEC")
				if reply.Kind != '-' || !strings.HasPrefix(reply.Text, "EXECABORT Transaction undone because of: ") {
					t.Fatalf("%q: EXEC replies %v", lines, reply)
				}
				if after := keyspaceOf(o); after != before {
					t.Fatalf("through node %d, RESP%d, %q: EXEC replies %v.\nbefore:\n%.2000s\nafter:\n%.2000s", i, proto, lines, reply, before, after)
				}
			}
			o.Want("+OK", "RING", "ATOMIC", "OFF")
			runLines(o, "MULTI", "SET {t}s kept", "INCR {t}list")
			if reply := o.Do("EXEC"); len(reply.Elems) != 2 || reply.Elems[1].Kind != '-' {
				t.Errorf("with ATOMIC off, EXEC replies %v", reply)
			}
			o.Want("$kept", "GET", "{t}s")
		}
	}
}

// A script whose reply is an error has changed nothing, and the error is the one that it was.
func TestAtomicScriptIsUndoneByAnError(t *testing.T) {
	r := routedTest(t, 2)
	scripts := []string{
		"redis.call('SET', KEYS[1], 'w'); redis.call('LPUSH', KEYS[1], 'x')",
		"redis.call('DEL', KEYS[1]); return {err='ERR enough'}",
		"redis.call('SET', KEYS[1], 'w'); error('enough')",
		"redis.call('SET', KEYS[1], 'w'); return redis.pcall('LPUSH', KEYS[1], 'x')",
	}
	for i := range r.servers {
		o, plain := resptest.Dial(t, r.addrs[i], 2), resptest.Dial(t, r.addrs[i], 2)
		o.Want("+OK", "RING", "ATOMIC", "ON")
		for _, key := range []string{"a", "b", "c", "d"} {
			for _, script := range scripts {
				plain.Want("+OK", "SET", key, "v")
				want := plain.Do("EVAL", script, "1", key)
				if got := plain.Do("GET", key).Text; got == "v" {
					t.Errorf("%s: nothing has changed without ATOMIC", script)
				}
				plain.Want("+OK", "SET", key, "v")
				if got := o.Do("EVAL", script, "1", key); got.Kind != '-' || got.Text != want.Text {
					t.Errorf("%s: %v, without ATOMIC %v", script, got, want)
				}
				plain.Want("$v", "GET", key)
			}
			o.Want("+OK", "EVAL", "redis.pcall('LPUSH', KEYS[1], 'x'); return redis.call('SET', KEYS[1], 'w')", "1", key)
			plain.Want("$w", "GET", key)
		}
	}
}

// A function whose reply is an error has changed nothing, also at another node.
func TestAtomicFunctionIsUndoneByAnError(t *testing.T) {
	r := routedTest(t, 2)
	const library = `#!lua name=lib
redis.register_function('fails', function(keys) redis.call('SET', keys[1], 'w'); return redis.call('LPUSH', keys[1], 'x') end)
redis.register_function('refuses', function(keys) redis.call('DEL', keys[1]); return {err = 'ERR enough'} end)
redis.register_function('works', function(keys) redis.pcall('LPUSH', keys[1], 'x'); return redis.call('SET', keys[1], 'w') end)`
	for _, addr := range r.addrs {
		if got := resptest.Dial(t, addr, 2).Do("FUNCTION", "LOAD", "REPLACE", library); got.Text != "lib" {
			t.Fatal(got)
		}
	}
	for i := range r.servers {
		o, plain := resptest.Dial(t, r.addrs[i], 2), resptest.Dial(t, r.addrs[i], 2)
		o.Want("+OK", "RING", "ATOMIC", "ON")
		for _, key := range []string{"a", "b", "c", "d"} {
			for _, function := range []string{"fails", "refuses"} {
				plain.Want("+OK", "SET", key, "v")
				want := plain.Do("FCALL", function, "1", key)
				if got := plain.Do("GET", key).Text; got == "v" {
					t.Errorf("%s: nothing has changed without ATOMIC", function)
				}
				plain.Want("+OK", "SET", key, "v")
				if got := o.Do("FCALL", function, "1", key); got.Kind != '-' || got.Text != want.Text {
					t.Errorf("%s: %v, without ATOMIC %v", function, got, want)
				}
				plain.Want("$v", "GET", key)
				runLines(o, "MULTI", "SET "+key+" x", "FCALL "+function+" 1 "+key)
				if got := o.Do("EXEC"); got.Kind != '-' || !strings.HasPrefix(got.Text, "EXECABORT Transaction undone") {
					t.Errorf("%s in a transaction: %v", function, got)
				}
				plain.Want("$v", "GET", key)
			}
			o.Want("+OK", "FCALL", "works", "1", key)
			plain.Want("$w", "GET", key)
		}
	}
}

// Nobody hears of what is undone: no event, no invalidation, no waiting client, no watcher. Requests of the same pipeline
// are answered as if the transaction had not been there.
func TestNobodyHearsOfWhatIsUndone(t *testing.T) {
	_, addr := serveTest(t, nil)
	o, events, tracker, waiter, watcher := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 3), resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	o.Want("+OK", "CONFIG", "SET", "notify-keyspace-events", "KEA")
	runLines(o, "SET k v", "RPUSH list only")
	events.Do("PSUBSCRIBE", "__key*__:*")
	tracker.Want("+OK", "CLIENT", "TRACKING", "ON")
	tracker.Want("$v", "GET", "k")
	watcher.Want("+OK", "WATCH", "k")
	waiter.Send("BLPOP", "q", "0")
	for o.Do("INFO", "clients").Text == "" || !strings.Contains(o.Do("INFO", "clients").Text, "blocked_clients:1") {
		if t.Failed() {
			return
		}
	}
	o.Want("+OK", "RING", "ATOMIC", "ON")
	for _, line := range []string{"GET k", "MULTI", "SET k w", "LPUSH q x", "INCR list", "EXEC", "GET k"} {
		o.Send(strings.Fields(line)...)
	}
	for _, want := range []string{"$v", "+OK", "+QUEUED", "+QUEUED", "+QUEUED", "-EXECABORT Transaction undone because of: ERR", "$v"} {
		if got := o.Next(); !strings.HasPrefix(string(got.Kind)+got.Text, want) && !strings.HasPrefix(string(got.Kind)+got.Text, strings.Replace(want, ": ERR", ": WRONGTYPE", 1)) {
			t.Errorf("%v, want %s", got, want)
		}
	}
	o.Want(":0", "EXISTS", "q")
	runLines(watcher, "MULTI", "SET other v")
	if got := watcher.Do("EXEC"); len(got.Elems) != 1 {
		t.Errorf("the watched key counts as changed: %v", got)
	}
	if got := tracker.Do("GET", "other"); got.Text != "v" { // an invalidation would come first
		t.Errorf("the tracking client reads %v", got)
	}
	runLines(o, "LPUSH q y")
	if got := waiter.Next(); len(got.Elems) != 2 || got.Elems[1].Text != "y" {
		t.Errorf("the waiting client got %v", got)
	}
	for _, want := range []string{"other", "q"} { // the first events since
		if got := events.Next(); len(got.Elems) != 4 || !strings.Contains(got.Elems[2].Text+got.Elems[3].Text, want) {
			t.Errorf("event %v, want one of %s", got, want)
		}
		events.Next() // of the other channel
	}
}

// What cannot be undone is no part of an atomic transaction.
func TestAtomicTransactionHasCommandsOnKeysOnly(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "RING", "ATOMIC", "ON")
	for _, line := range []string{"FLUSHDB", "FLUSHALL", "PUBLISH c m", "CONFIG SET maxmemory 0", "SWAPDB 0 1", "SELECT 1", "RING PAUSE", "CLIENT SETNAME x"} {
		runLines(o, "MULTI", "SET k v")
		queued := o.Do(strings.Fields(line)...)
		reply := o.Do("EXEC")
		if reply.Kind != '-' || queued.Kind == '+' && !strings.HasPrefix(reply.Text, "EXECABORT Transaction discarded: RING ATOMIC") {
			t.Errorf("%s: %v, EXEC replies %v", line, queued, reply)
		}
		o.Want(":0", "EXISTS", "k")
	}
	runLines(o, "MULTI", "PING", "SET k v")
	if reply := o.Do("EXEC"); len(reply.Elems) != 2 {
		t.Errorf("with PING: %v", reply)
	}
	o.Want("+RESET", "RESET")
	o.Want("$off", "RING", "ATOMIC")
	for _, line := range []string{"RING ATOMIC x", "RING ATOMIC ON x", "RING USER", "RING USER default", "RING USER default x", "RING USER default ATOMIC x", "RING USER nobody ATOMIC ON", "RING USER default ATOMIC ON x"} {
		if got := o.Do(strings.Fields(line)...); got.Kind != '-' {
			t.Errorf("%s: %v", line, got)
		}
	}
}
