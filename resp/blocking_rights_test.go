package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// agreedUsers returns what gives the user u some rules at all servers, or removes it if there are none.
func agreedUsers(t *testing.T, servers ...*Server) func(rules string) {
	var values *agreed.Values
	version := uint64(0)
	return func(rules string) {
		t.Helper()
		change := agreed.Change{Name: "user/u", Body: rules, Remove: rules == "", Was: values.Of("user/u").Version}
		version++
		var err error
		if values, err = values.With([]agreed.Change{change, {Name: "users", Body: itoa(int(version)), Was: values.Of("users").Version}}, version); err != nil {
			t.Fatal(err)
		}
		for _, s := range servers {
			s.SetValues(values, 1, version)
		}
	}
}

// A command that waits is judged by the rights of its user when it would be served, as in Redis since 7.2. What it
// would have taken stays.
func TestWaitingCommandIsRefusedWhenItsUserHasLostTheRight(t *testing.T) {
	const all = "on nopass ~* &* +@all"
	r := routedTest(t, 2)
	r.placeAll(r.all(1))
	set := agreedUsers(t, r.servers...)
	admin := resptest.Dial(t, r.addrs[1], 2)
	for _, test := range []struct{ wait, push, left string }{
		{"BLPOP l 0", "RPUSH l x", "LLEN l"},
		{"BRPOP other l 0", "RPUSH l x", "LLEN l"},
		{"BLMPOP 0 2 other l LEFT", "RPUSH l x", "LLEN l"},
		{"BLMOVE l {l}to LEFT RIGHT 0", "RPUSH l x", "LLEN l"},
		{"BRPOPLPUSH l {l}to 0", "RPUSH l x", "LLEN l"},
		{"BZPOPMIN z 0", "ZADD z 1 x", "ZCARD z"},
		{"BZMPOP 0 1 z MAX", "ZADD z 1 x", "ZCARD z"},
		{"XREAD BLOCK 0 STREAMS s $", "XADD s * a b", "XLEN s"},
		{"XREAD BLOCK 0 STREAMS s 99999999999999-0", "XADD s * a b", "XLEN s"},
		{"XREADGROUP GROUP g c BLOCK 0 STREAMS group >", "XADD group * a b", "XLEN group"},
		{"XREADGROUP GROUP g c BLOCK 0 STREAMS group >", "DEL group", ""},
		{"XREADGROUP GROUP g c BLOCK 0 STREAMS group >", "FLUSHALL", ""},
	} {
		words := strings.Fields(test.wait)
		name := strings.ToLower(words[0])
		for _, lost := range []struct{ rules, reply string }{
			{"on nopass ~other ~{l}to &* +@all", "-NOPERM No permissions to access a key"},
			{all + " -" + name, "-NOPERM User u has no permissions to run the '" + name + "' command"},
			{"", ""},
			{"off nopass ~* &* +@all", "served"},
		} {
			for at, where := range []string{"of another node", "of the owner"} {
				admin.Do("FLUSHALL")
				admin.Want("+OK", "XGROUP", "CREATE", "group", "g", "$", "MKSTREAM")
				if set(all); lost.rules != "" {
					admin.Want("+OK", "ACL", "LOG", "RESET")
				}
				o := resptest.Dial(t, r.addrs[at], 2)
				o.Want("+OK", "AUTH", "u", "pw")
				o.Send(words...)
				r.waits(1, 1)
				set(lost.rules)
				reply := admin.Do(strings.Fields(test.push)...)
				switch {
				case reply.Kind == '-':
					t.Fatalf("%s: %v", test.push, reply)
				case lost.rules == "":
					o.Ended()
				case lost.reply != "served":
					if got := o.Next().String(); got != lost.reply {
						t.Errorf("%s at a node %s: %s, want %s", test.wait, where, got, lost.reply)
					}
					log := resptest.Dial(t, r.addrs[at], 2)
					if n := len(log.Do("ACL", "LOG").Elems); n == 0 {
						t.Errorf("%s at a node %s: the refusal is not in the log", test.wait, where)
					}
				case strings.Contains(test.wait, "9999"): // nothing is served yet
				default:
					if got := o.Next().String(); strings.HasPrefix(got, "-NOPERM") {
						t.Errorf("%s at a node %s: %s", test.wait, where, got)
					}
				}
				if test.left != "" && lost.reply != "served" {
					admin.Want(":1", strings.Fields(test.left)...)
				}
				_ = o.C.Close()
				r.waits(1, 0)
			}
		}
	}
}

// The next in the queue is served in the place of a client that has lost the right.
func TestClientBehindRefusedWaiterIsServed(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(r.all(1))
	set := agreedUsers(t, r.servers...)
	set("on nopass ~* +@all")
	var waiting []*resptest.Conn
	for i := range 4 {
		o := resptest.Dial(t, r.addrs[i%2], 2)
		if i < 2 {
			o.Want("+OK", "AUTH", "u", "pw")
		}
		o.Send("BLPOP", "l", "0")
		r.waits(1, i+1)
		waiting = append(waiting, o)
	}
	set("on nopass ~* +@all -blpop")
	push := resptest.Dial(t, r.addrs[0], 2)
	push.Want(":2", "RPUSH", "l", "1", "2")
	for i, want := range []string{
		"-NOPERM User u has no permissions to run the 'blpop' command", "-NOPERM User u has no permissions to run the 'blpop' command",
		"*($l $1)", "*($l $2)",
	} {
		if got := waiting[i].Next().String(); got != want {
			t.Errorf("client %d: %s, want %s", i, got, want)
		}
	}
}

// A wait counts as one call when it ends, and as none if it is refused, as in Redis since 7.2.
func TestWaitCountsOnceItEnds(t *testing.T) {
	srv, addr := serveTest(t, nil)
	set := agreedUsers(t, srv)
	set("on nopass ~* +@all")
	admin, o := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	o.Want("+OK", "AUTH", "u", "pw")
	stat := func(want string) {
		t.Helper()
		text := admin.Do("INFO", "commandstats").Text
		_, line, _ := strings.Cut(text, "cmdstat_blpop:")
		line, _, _ = strings.Cut(line, "\r")
		calls, _, _ := strings.Cut(line, ",")
		_, rest, _ := strings.Cut(line, ",rejected_calls=")
		if got := calls + " " + rest; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, test := range []struct {
		end  string
		stat string
	}{
		{"RPUSH l x", "calls=1 0,failed_calls=0"},
		{"CLIENT UNBLOCK " + o.Do("CLIENT", "ID").Text, "calls=1 0,failed_calls=0"},
		{"CLIENT UNBLOCK " + o.Do("CLIENT", "ID").Text + " ERROR", "calls=1 0,failed_calls=1"},
		{"", "calls=0 1,failed_calls=0"},
	} {
		admin.Want("+OK", "CONFIG", "RESETSTAT")
		o.Send("BLPOP", "l", "0")
		awaitBlocked(t, admin, 1)
		stat(" ")
		if test.end == "" {
			set("on nopass +@all")
			test.end = "RPUSH l x"
		}
		admin.Want(":1", strings.Fields(test.end)...)
		o.Next()
		stat(test.stat)
	}
}

// A command that CLIENT PAUSE holds back is judged by the rights of its user when it runs, as in Redis.
func TestPausedCommandIsRefusedWhenItsUserHasLostTheRight(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(r.all(1))
	set := agreedUsers(t, r.servers...)
	for _, command := range []string{"SET k v", "PUBLISH c m", "GET k", "SUBSCRIBE c", "ECHO x", "EVAL return{} 0"} {
		for i, addr := range r.addrs {
			set("on nopass ~* &* +@all")
			admin, o := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
			o.Want("+OK", "AUTH", "u", "pw")
			admin.Want("+OK", "CLIENT", "PAUSE", "100000")
			o.Send(strings.Fields(command)...)
			resptest.WaitFor(t, command+" to wait", func() bool { return r.servers[i].stats.Paused.Load() == 1 })
			set("on nopass ~* &* -@all")
			admin.Want("+OK", "CLIENT", "UNPAUSE")
			if got := o.Next().String(); !strings.HasPrefix(got, "-NOPERM User u has no permissions to run the") {
				t.Errorf("%s: %s", command, got)
			}
		}
	}
}

// The log shows a key as its client knows it, also in another database.
func TestAclLogNamesKeysOfOtherDatabases(t *testing.T) {
	srv, addr := serveTest(t, nil)
	set := agreedUsers(t, srv)
	set("on nopass ~* +@all")
	admin, o := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	o.Want("+OK", "AUTH", "u", "pw")
	o.Want("+OK", "SELECT", "3")
	o.Want("+OK", "MULTI")
	o.Want("+QUEUED", "GET", "queued")
	set("on nopass +@all")
	o.Do("EXEC")
	set("on nopass ~* +@all")
	o.Send("BLPOP", "waiting", "0")
	awaitBlocked(t, admin, 1)
	set("on nopass +@all")
	admin.Want("+OK", "SELECT", "3")
	admin.Want(":1", "RPUSH", "waiting", "x")
	o.Next()
	log := admin.Do("ACL", "LOG").Elems
	if len(log) != 2 {
		t.Fatalf("%v", log)
	}
	for i, want := range []string{"waiting", "queued"} {
		if got := log[i].Field("object"); got == nil || got.Text != want {
			t.Errorf("entry %d is about %v, want %s", i, got, want)
		}
	}
}
