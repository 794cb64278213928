package resp

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
)

// A script that goes on to keys which it has not declared is begun anew, and what it has done
// before is done once; so is what shares the pipeline with it.
func TestUndeclaredKeysOfScripts(t *testing.T) {
	_, lone := serveTest(t, nil)
	r := routedTest(t, 2)
	r.placeAll(oneOwner(t, "n1"))
	for _, addr := range []string{lone, r.addrs[0], r.addrs[1]} {
		o := resptest.Dial(t, addr, 2)
		for round := 1; round <= 3; round++ {
			for _, words := range [][]string{
				{"INCR", "before"},
				{"EVAL", "redis.call('incr', KEYS[1]) return {redis.call('incr', KEYS[1]), redis.call('incr', 'undeclared'), redis.call('get', 'before')}", "1", "declared"},
				{"INCR", "behind"},
				{"EVAL", "for i = 1, 30 do redis.call('incr', 'many' .. i) end return redis.call('incr', 'many1')", "0"},
				{"MULTI"}, {"INCR", "behind"}, {"EVAL", "return redis.call('incr', 'inside')", "0"}, {"EXEC"},
			} {
				o.Send(words...)
			}
			for _, want := range []string{
				fmt.Sprint(":", round), fmt.Sprintf("*(:%d :%d $%d)", 2*round, round, round), fmt.Sprint(":", 2*round-1), fmt.Sprint(":", 2*round),
				"+OK", "+QUEUED", "+QUEUED", fmt.Sprintf("*(:%d :%d)", 2*round, round),
			} {
				if got := o.Next().String(); got != want {
					t.Fatalf("round %d: %s, want %s", round, got, want)
				}
			}
		}
		o.Do("FLUSHALL")
	}
}

// A script without declared keys that is sent to a node which does not serve its key any more,
// or not yet, is sent again, as any other request.
func TestScriptWithoutKeysFollowsItsKey(t *testing.T) {
	r := routedTest(t, 2)
	r.place(0, r.all(1), nil)
	r.place(1, r.all(0), nil)
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Send("EVAL", "return redis.call('incr', ARGV[1])", "0", "k")
	resptest.WaitFor(t, "the script to be sent back", func() bool { return r.servers[1].stats.NotMine.Load() > 0 })
	r.placeAll(r.all(1))
	if got := o.Next().String(); got != ":1" {
		t.Error(got)
	}
	o.Want("$1", "GET", "k")
}

// No text that a script returns, or a value has, is taken for an answer of a node: each
// script runs once, and its client gets what it says.
func TestScriptsCannotForgeAnswersOfNodes(t *testing.T) {
	r, keys := halves(t)
	words := []string{
		msgNotMine, msgLate, msgLostWrite, command.MsgHeldWrite, msgNoCopy, msgAway, msgUnreachable, command.MsgMoving, msgNoReplicas, msgNoScript,
		scripts.MsgBusy, msgCrossSlot, msgNonLocal, "MOVED 1 127.0.0.1:1", "ASK 1 127.0.0.1:1", "NOAUTH x", "LOADING x", "READONLY x", "QUEUED", "OK",
	}
	const (
		fails  = "redis.call('incr', KEYS[1]) return {err = ARGV[1]}"
		raises = "redis.call('incr', KEYS[1]) error({err = ARGV[1]})"
		status = "redis.call('incr', KEYS[1]) return {ok = ARGV[1]}"
		value  = "redis.call('incr', KEYS[1]) return redis.call('hget', 'h{' .. KEYS[1] .. '}', 'f')"
		quiet  = "redis.call('incr', ARGV[2]) return {err = ARGV[1]}" // declares no key
	)
	runs := 0
	for _, addr := range r.addrs {
		o := resptest.Dial(t, addr, 2)
		for _, word := range words {
			runs++
			for _, key := range keys {
				o.Do("HSET", "h{"+key+"}", "f", word)
				o.Send("EVAL", fails, "1", key, word)
				o.Send("EVAL", raises, "1", key, word)
				o.Send("EVAL", status, "1", key, word)
				o.Send("EVAL", value, "1", key)
				o.Send("EVAL", quiet, "0", word, key)
				o.Send("MULTI")
				o.Send("EVAL", fails, "1", key, word)
				o.Send("EXEC")
				for i, want := range []string{"-" + word, "-" + word, "+" + word, "$" + word, "-" + word, "+OK", "+QUEUED", "*(-" + word + ")"} {
					if got := o.Next().String(); !strings.HasPrefix(got, strings.TrimSuffix(want, ")")) {
						t.Errorf("%q, reply %d: %s", word, i, got)
					}
				}
				o.Want(fmt.Sprint("$", 6*runs), "GET", key)
			}
		}
	}
}

// A script runs where its keys are, whoever is asked, and is known to all nodes.
func TestScriptsOverNodes(t *testing.T) {
	r, keys := halves(t)
	var nodes []*resptest.Conn
	for _, addr := range r.addrs {
		nodes = append(nodes, resptest.Dial(t, addr, 2))
	}
	body := "return redis.call('incr', KEYS[1])"
	sha := nodes[0].Do("SCRIPT", "LOAD", body).Text
	for i, o := range nodes {
		o.Want("*(:1 :0)", "SCRIPT", "EXISTS", sha, strings.Repeat("f", 40))
		for half, key := range keys {
			o.Want(fmt.Sprint(":", 1+2*i), "EVALSHA", sha, "1", key)
			o.Want(fmt.Sprint(":", 2+2*i), "EVAL", body, "1", key)
			// One that no key is declared of goes to where its keys are.
			o.Want(fmt.Sprint("$", 2+2*i), "EVAL", "return redis.call('get', ARGV[1])", "0", key)
			_ = half
		}
		for _, keyed := range [][]string{{"2", keys[0], keys[1]}, {"1", keys[0]}, {"0"}} {
			text := "redis.call('get', '" + keys[0] + "') return redis.call('incr', '" + keys[1] + "')"
			got := o.Do(append([]string{"EVAL", text}, keyed...)...).String()
			if got != "-"+msgCrossSlot && !strings.HasPrefix(got, "-"+msgNonLocal) {
				t.Errorf("node %d, %v: %s", i, keyed, got)
			}
		}
		o.Want(fmt.Sprint("$", 2+2*i), "GET", keys[1])
		if got := o.Do("EVAL", "return redis.call('dbsize')", "0").String(); !strings.Contains(got, "covers the cluster") {
			t.Error(got)
		}
	}
	nodes[1].Want("+OK", "SCRIPT", "FLUSH")
	for _, o := range nodes {
		o.Want("-"+msgNoScript, "EVALSHA", sha, "1", keys[0])
	}
	// What a node has learned by EVAL, others find with it: also in a transaction.
	other := "return redis.call('incrby', KEYS[1], 10)"
	nodes[0].Do("EVAL", other, "1", "{"+keys[0]+"}x")
	known := r.servers[0].scripts.Find([]byte(other))
	if known == nil {
		t.Fatal("not known where it came in")
	}
	for _, key := range keys {
		nodes[1].Want(":10", "EVALSHA", known.SHA, "1", "{"+key+"}y")
		nodes[1].Do("MULTI")
		nodes[1].Do("EVALSHA", known.SHA, "1", "{"+key+"}y")
		nodes[1].Want("*(:20)", "EXEC")
	}
}

// A script that has written and then comes upon a key of another node is refused as a whole,
// whichever node is asked.
func TestScriptThatLeavesItsNodeLeavesNothing(t *testing.T) {
	r, keys := halves(t)
	const reads = "return redis.call('get', ARGV[1])"
	for i, addr := range r.addrs {
		o := resptest.Dial(t, addr, 2)
		for half, key := range keys {
			for _, cmds := range [][][]string{
				{{"EVAL", "redis.call('set', KEYS[1], '1') " + reads, "1", key, keys[1-half]}},
				{{"EVAL", "redis.call('set', KEYS[1], '1') return redis.pcall('set', ARGV[1], '1')", "1", key, keys[1-half]}},
				{{"MULTI"}, {"SET", key, "1"}, {"EVAL", reads, "1", key, keys[1-half]}, {"EXEC"}},
				{{"MULTI"}, {"SET", key, "1"}, {"EVAL", reads, "1", key, strings.Repeat("k", 70<<10)}, {"EXEC"}},
			} {
				got := ""
				for _, words := range cmds {
					got = o.Do(words...).String()
				}
				if !strings.Contains(got, msgNonLocal[4:]) && !strings.Contains(got, msgCrossSlot[10:]) && !strings.Contains(got, command.MsgKeyTooLong[4:]) {
					t.Errorf("node %d, half %d, %v: %s", i, half, cmds, got)
				}
				if got := o.Do("EXISTS", key).String() + o.Do("EXISTS", keys[1-half]).String(); got != ":0:0" {
					t.Errorf("node %d, half %d, %v leaves %s", i, half, cmds, got)
				}
				o.Do("DEL", key)
			}
		}
	}
}

func TestScriptKillTakesBackWrites(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o, other := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	until := func(holds func(run *scripts.Run) bool) {
		t.Helper()
		for i := 0; ; i++ {
			if srv.scripts.Any(holds) {
				return
			}
			if i > 2000 {
				t.Fatal("it does not run")
			}
			time.Sleep(time.Millisecond)
		}
	}
	running := func() { t.Helper(); until(func(*scripts.Run) bool { return true }) }
	wrote := func() { t.Helper(); until(func(run *scripts.Run) bool { return run.Wrote.Load() }) }
	other.Want("-"+scripts.MsgNotBusy, "SCRIPT", "KILL")
	o.Send("EVAL", "redis.call('get', KEYS[1]) while true do end", "1", "k")
	running()
	// Who needs no latch that it holds goes on.
	other.Want("_$", "GET", "k")
	other.Want("+OK", "CONFIG", "SET", "busy-reply-threshold", "0")
	srv.scripts.Look(srv.clock()+time.Hour, time.Duration(srv.settings.BusyAfter.Load()))
	if n := srv.scripts.Overdue(); n > 0 {
		t.Errorf("%d scripts are overdue that may run for ever", n)
	}
	other.Want("+OK", "CONFIG", "SET", "busy-reply-threshold", "3000")
	other.Want("*($busy-reply-threshold $3000)", "CONFIG", "GET", "busy-reply-*")
	srv.scripts.Look(srv.clock()+4*time.Second, time.Duration(srv.settings.BusyAfter.Load()))
	other.Want("-"+scripts.MsgBusy, "SET", "k", "1")
	other.Want("+OK", "SCRIPT", "KILL")
	if got := o.Next().String(); !strings.HasPrefix(got, "-ERR Script killed by user with SCRIPT KILL. script: ") {
		t.Error(got)
	}
	other.Want("+OK", "SET", "k", "1")
	other.Want("+OK", "SET", "long", strings.Repeat("x", 5<<20))
	for _, script := range []string{
		"redis.call('set', KEYS[1], '2') redis.call('get', KEYS[2])",
		"redis.call('set', KEYS[1], string.rep('x', 100000))",
		"redis.call('setrange', KEYS[1], 70000, 'x')",
		"for i = 1, 2000 do redis.call('xadd', KEYS[1], '*', 'field', string.rep('x', 100)) end",
		"for i = 0, 79 do redis.call('setrange', KEYS[3], i * 65536, 'y') end",
		"redis.call('set', 'new', '2')", // undeclared: begun anew with its latch
	} {
		o.Send("EVAL", script+" redis.call('publish', 'written', '') while true do end", "3", "new", "k", "long")
		wrote()
		other.Want("+OK", "SCRIPT", "KILL")
		if got := o.Next().String(); !strings.HasPrefix(got, "-ERR Script killed by user with SCRIPT KILL. script: ") {
			t.Error(script, got)
		}
		other.Want(":0", "EXISTS", "new")
		other.Want("$xxx", "GETRANGE", "long", "0", "2")
	}
	o.Send("EVAL", "redis.call('set', KEYS[1], '2') while redis.call('get', KEYS[1]) do end", "1", "k")
	wrote()
	// The end of the server ends it, and then it has done nothing.
	srv.scripts.End()
	if got := o.Next().String(); !strings.HasPrefix(got, "-UNKNOWN") {
		t.Error(got)
	}
	other.Want("$1", "GET", "k")
}

// With strict-busy, a script that runs for too long is in the way of all commands that Redis would refuse.
func TestStrictBusyRefusesCommandsOfAllClients(t *testing.T) {
	srv, addr := serveTest(t, nil)
	script, queued, other := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	other.Want("+OK", "CONFIG", "SET", "busy-reply-threshold", "1")
	queued.Want("+OK", "MULTI")
	queued.Want("+QUEUED", "SET", "k", "1")
	script.Send("EVAL", "while true do end", "0")
	busy := func() {
		t.Helper()
		for i := 0; other.Do("PING").String() != "-"+scripts.MsgBusy; i++ {
			if i > 2000 {
				t.Fatal("PING is not refused")
			}
			time.Sleep(time.Millisecond)
		}
	}
	other.Want("+OK", "CONFIG", "SET", "strict-busy", "yes")
	busy()
	other.Want("-"+scripts.MsgBusy, "GET", "another")
	other.Want("-"+scripts.MsgBusy, "CONFIG", "SET", "strict-busy", "no")
	queued.Want("-EXECABORT Transaction discarded because of: "+scripts.MsgBusy, "EXEC")
	queued.Want("+OK", "MULTI")
	queued.Want("-"+scripts.MsgBusy, "SET", "k", "1")
	other.Want("+OK", "SCRIPT", "KILL")
	script.Next()
	queued.Want("-"+msgExecAbort, "EXEC")
	other.Want("_$", "GET", "k")
	script.Send("EVAL", "while true do end", "0")
	busy()
	srv.settings.StrictBusy.Store(false)
	other.Want("+PONG", "PING")
	other.Want("+OK", "SCRIPT", "KILL")
}

// Scripts as applications use them: a lock that only its owner lets go of, a limit of
// requests in a window of time, and a queue of jobs that come back if nobody finishes them.
func TestScriptsOfApplications(t *testing.T) {
	r, _ := halves(t)
	ctx := t.Context()
	unlock := redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)
	limit := redis.NewScript(`
local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if n > tonumber(ARGV[1]) then return {0, redis.call('PTTL', KEYS[1])} end
return {1, tonumber(ARGV[1]) - n}`)
	take := redis.NewScript(`
local job = redis.call('RPOP', KEYS[1])
if not job then return false end
local data = cjson.decode(job)
redis.call('HSET', KEYS[2], data.id, job)
return {data.id, data.payload or cjson.null}`)
	giveBack := redis.NewScript(`
local all = redis.call('HGETALL', KEYS[2])
for i = 1, #all, 2 do redis.call('LPUSH', KEYS[1], all[i + 1]) end
redis.call('DEL', KEYS[2])
return #all / 2`)
	var clients sync.WaitGroup
	var done sync.Map
	held := make(chan struct{}, 1)
	for i := range 6 {
		c := r.client(i % 2)
		clients.Go(func() {
			me := fmt.Sprint("client ", i)
			for n := range 15 {
				for !c.SetNX(ctx, "lock", me, time.Minute).Val() {
					time.Sleep(time.Millisecond)
				}
				held <- struct{}{} // nobody else is here
				<-held
				if got, err := unlock.Run(ctx, c, []string{"lock"}, "somebody else").Int(); got != 0 || err != nil {
					t.Error(got, err)
				}
				if got, err := unlock.Run(ctx, c, []string{"lock"}, me).Int(); got != 1 || err != nil {
					t.Error(got, err)
				}
				job := fmt.Sprintf(`{"id":"%d-%d","payload":"%s"}`, i, n, me)
				if err := c.LPush(ctx, "{q}jobs", job).Err(); err != nil {
					t.Error(err)
				}
				got, err := take.Run(ctx, c, []string{"{q}jobs", "{q}taken"}).StringSlice()
				if err != nil || len(got) != 2 {
					t.Error(got, err)
					return
				}
				if _, twice := done.LoadOrStore(got[0], true); twice {
					t.Errorf("%s is done twice", got[0])
				}
			}
		})
	}
	clients.Wait()
	c := r.client(1)
	if n, err := giveBack.Run(ctx, c, []string{"{q}jobs", "{q}taken"}).Int(); n != 90 || err != nil {
		t.Error(n, err)
	}
	if n := c.LLen(ctx, "{q}jobs").Val(); n != 90 {
		t.Errorf("%d jobs came back", n)
	}
	allowed := 0
	for i := range 12 {
		got, err := limit.Run(ctx, r.client(i%2), []string{"limit"}, 5, 60_000).Int64Slice()
		if err != nil || len(got) != 2 {
			t.Fatal(got, err)
		}
		allowed += int(got[0])
	}
	if allowed != 5 {
		t.Errorf("%d were allowed", allowed)
	}
}

// What a script publishes reaches the subscribers of all nodes once, though the script is run
// again for a key that it has not declared, and nobody if it was not run in the end.
func TestMessagesOfScripts(t *testing.T) {
	r, keys := halves(t)
	var listeners []*resptest.Conn
	for _, addr := range r.addrs {
		o := resptest.Dial(t, addr, 2)
		o.Want("*($subscribe $news :1)", "SUBSCRIBE", "news")
		listeners = append(listeners, o)
	}
	o := resptest.Dial(t, r.addrs[0], 2)
	body := "local n = redis.call('publish', 'news', ARGV[1]) redis.call('incr', ARGV[2]) redis.call('incr', KEYS[1]) return n"
	for i, key := range keys {
		o.Do("DEL", key, "{"+key+"}undeclared")
		o.Want(":1", "EVAL", body, "1", key, fmt.Sprint("message", i), "{"+key+"}undeclared")
		o.Do("SET", key, "text")
		if got := o.Do("EVAL", body, "1", key, "as well", "{"+key+"}undeclared").String(); !strings.HasPrefix(got, "-ERR value is not an integer") {
			t.Error(got) // what a script did before it failed stays, as in Redis
		}
		o.Want("$2", "GET", "{"+key+"}undeclared")
	}
	for _, l := range listeners {
		for i := range keys {
			for _, message := range []string{fmt.Sprint("message", i), "as well"} {
				if got, want := l.Next().String(), fmt.Sprintf("*($message $news $%s)", message); got != want {
					t.Errorf("%s, want %s", got, want)
				}
			}
		}
	}
	_, lone := serveTest(t, nil)
	l, o := resptest.Dial(t, lone, 2), resptest.Dial(t, lone, 2)
	l.Want("*($subscribe $news :1)", "SUBSCRIBE", "news")
	for _, message := range []string{"one", "two"} {
		o.Want(":1", "EVAL", body, "1", "declared", message, "undeclared"+message)
		if got := l.Next().String(); got != "*($message $news $"+message+")" {
			t.Errorf("%s, want %s", got, message)
		}
	}
}
