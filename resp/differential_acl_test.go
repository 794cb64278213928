package resp

import (
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// inOrder returns a reply with the words of its texts in order, but for the rules about commands: since Redis 7.2 they
// are shown as they were given (TestCommandRulesStayAsGiven in package acl).
func inOrder(v resptest.Value) string {
	if len(v.Elems) == 0 {
		words := strings.FieldsFunc(v.Text, func(r rune) bool { return r == ' ' || r == '(' || r == ')' })
		words = slices.DeleteFunc(words, func(word string) bool { return strings.HasPrefix(word, "+") || strings.HasPrefix(word, "-") })
		slices.Sort(words)
		return string(v.Kind) + strings.Join(words, " ")
	}
	var all []string
	for _, e := range v.Elems {
		all = append(all, inOrder(e))
	}
	return string(v.Kind) + "[" + strings.Join(all, " | ") + "]"
}

// doInOrder compares two replies but for the order of words.
func (d *differ) doInOrder(args ...string) resptest.Value {
	d.t.Helper()
	want, got := d.both(args)
	if inOrder(got) != inOrder(want) {
		d.differs(args, got, want)
	}
	return want
}

// aclRules are rules of ACL SETUSER, right and wrong ones.
var aclRules = []string{
	"", "on", "off", "ON nopass", "nopass", "resetpass", ">secret", "<secret", ">a >b <a", "#" + strings.Repeat("0a", 32), "!" + strings.Repeat("0a", 32),
	"#" + strings.Repeat("0A", 32), "#00", "!x", "< >", "~*", "~a ~b* ~a", "~* ~x", "resetkeys ~[a-z]? ~", "%R~a %W~a", "%RW~b %rw~c %r~d", "%RR~x", "%x~y", "%R", "allkeys", "allkeys %R~x",
	"&*", "&a &b* &a", "&* &x", "resetchannels &x &y", "allchannels", "+@all", "-@all", "+@ALL", "allcommands", "nocommands", "+get", "+GET +set -get", "-get", "+@all -get",
	"+@read", "+@read -@write", "+@all -@dangerous", "+@all -@admin +acl|whoami", "+@nope", "-@nope", "+nope", "-nope", "+config|get", "+config|nope", "+config -config|set",
	"-config|get", "+@all -config", "+@all -config +config|get", "+select|0", "+select|0 +select|1 +SELECT|0", "+@all +select|0", "+select|0 +select", "+select|0 -select",
	"+select|0 +@connection", "+get|a|b", "+config|get|x", "+config|", "+get|", "+|x", "+", "-", "@read", "read", "+@", "-@all +@string -incr +debug|a +debug|b",
	"(+get ~a)", "(+get ~a) (%R~b +@write)", "()", "(", ")", "( +get", "(+get ~x +set) on", "(+get (+set)", "(&* &x)", "(nope)", "(on)", "(>x)", "clearselectors", "(+get) clearselectors (+set)",
	"on nopass ~* &* +@all (+get)", "reset", "reset (+@all -@all ~k)", "sanitize-payload", "skip-sanitize-payload", "sanitize-payload skip-sanitize-payload",
	"+@fast", "+@slow", "-@slow", "+@keyspace +@connection", "+@all -@fast -@blocking", "+client -client|kill", "+@pubsub &c*", "~x\x01y", "&x\ty", "~a\nb", "&", "%~x(",
	"+@scripting +@transaction", "+@hyperloglog -pfcount", "+@all -@all", "+@all -@read -@write", "+@stream +@geo +@bitmap", "+script|load +script|exists", "+xinfo -xinfo|help",
}

func TestRulesOfUsersAreThoseOfRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	differentialInOne(t, func(d *differ) {
		for _, start := range []string{"", "on nopass ~* &* +@all", "reset ~k &c +get (+set ~s) >pw", "+select|7 -@all +@read"} {
			for _, rules := range aclRules {
				if rules == "%R" || rules == "%~x(" {
					continue // Redis 7.0 takes a pattern without access, and fails when it shows it
				}
				d.redis.Do("ACL", "DELUSER", "u")
				d.ours.Do("ACL", "DELUSER", "u")
				d.do(append([]string{"ACL", "SETUSER", "u"}, strings.Fields(start)...)...)
				d.do(append([]string{"ACL", "SETUSER", "u"}, strings.Split(rules, " ")...)...)
				d.doInOrder("ACL", "GETUSER", "u")
				d.doInOrder("ACL", "LIST")
			}
		}
		d.run(`
ACL USERS
ACL SETUSER "a b"
ACL SETUSER ""
ACL SETUSER u ""
ACL USERS
ACL DELUSER u default
ACL DELUSER u u nobody
ACL DELUSER
ACL GETUSER nobody
ACL WHOAMI
ACL LOAD
ACL SAVE
ACL LOG
ACL LOG 3
ACL LOG -1
ACL LOG x
ACL LOG RESET
ACL LOG RESET x
ACL NOPE
ACL CAT x y
ACL CAT nope
ACL SETUSER
ACL GETUSER
AUTH x
AUTH nobody x
AUTH default x
AUTH default x y
`)
	})
}

// Each category has the commands that it has in Redis, and none of those that Redis does not have but in these.
func TestCategoriesAreThoseOfRedis(t *testing.T) {
	differentialIn(t, []int{2}, func(d *differ) {
		own := map[string]bool{}
		for _, row := range newCommandTable().All {
			own[row.Full] = true
		}
		known := map[string]bool{}
		texts := func(v resptest.Value) (all []string) {
			for _, e := range v.Elems {
				all = append(all, e.Text)
			}
			return all
		}
		for _, c := range d.redis.Do("COMMAND", "LIST").Elems {
			known[c.Text] = true
		}
		if got, want := texts(d.ours.Do("ACL", "CAT")), append(texts(d.redis.Do("ACL", "CAT")), "json", "bloom", "ring"); !slices.Equal(got, want) {
			t.Errorf("categories are %v, not %v", got, want)
		}
		for _, category := range texts(d.redis.Do("ACL", "CAT")) {
			want := slices.DeleteFunc(texts(d.redis.Do("ACL", "CAT", category)), func(name string) bool { return !own[name] })
			got := slices.DeleteFunc(texts(d.ours.Do("ACL", "CAT", category)), func(name string) bool {
				return !known[strings.Split(name, "|")[0]] || !slices.Contains(want, name) && (isNewer(name) || name == "wait" && category == "blocking")
			})
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("@%s has\n%v, not\n%v", category, got, want)
			}
		}
		for _, name := range texts(d.ours.Do("ACL", "CAT", "ring")) {
			if known[name] {
				t.Errorf("%s is Redis', and in @ring", name)
			}
		}
	})
}

// isNewer reports whether a command is of a version after Redis 7.0.
func isNewer(name string) bool {
	return strings.HasPrefix(name, "json.") || strings.HasPrefix(name, "bf.") || slices.Contains([]string{
		"client|setinfo", "waitaof", "client|no-touch", "client|maint_notifications", "cluster|myshardid", "cluster|slot-stats", "digest", "delex", "delifeq", "msetex", "increx", "xdelex", "xackdel", "xnack", "clusterscan",
		"hexpire", "hpexpire", "hexpireat", "hpexpireat", "hpersist", "httl", "hpttl", "hexpiretime", "hpexpiretime", "hgetex", "hsetex", "hgetdel",
	}, name)
}

// aclCalls are judged for several users. Some are no calls that a command takes.
const aclCalls = `
GET read1
GET write1
GET rw1
GET other
SET write1 x
SET write1 x GET
SET rw1 x GET
SET read1 x
MGET read1 read2
MGET read1 other
MSET write1 a rw1 b
MSET write1 a read1 b
COPY read1 write1
COPY write1 read1
RENAME rw1 write1
DEL write1 write2
UNLINK read1
EXISTS read1 write1
TYPE write1
TOUCH other
MEMORY USAGE read1
OBJECT ENCODING read1
BITFIELD rw1 GET u4 0
BITFIELD read1 GET u4 0
BITFIELD read1 SET u4 0 1
BITFIELD_RO read1 GET u4 0
SORT read1 STORE write1
SORT read1 STORE read1
SORT write1 STORE write1
SORT read1 BY w* GET other
SORT_RO read1 BY nosort
EVAL "" 1 rw1
EVAL "" 1 read1
EVAL_RO "" 1 read1
EVAL "" 0 read1
EVAL "" -1 read1
EVAL "" 3 rw rw
EVALSHA_RO x 1 write1
GEORADIUS read1 1 1 1 M STOREDIST write1
GEORADIUS read1 1 1 1 M STORE read2
GEORADIUS write1 1 1 1 M
GEORADIUS_RO read1 1 1 1 M
GEOSEARCHSTORE write1 read1 FROMLONLAT 1 1 BYRADIUS 1 M
MIGRATE h p rw 0 500
MIGRATE h p read 0 500
ZUNIONSTORE write1 2 read1 read2
ZUNIONSTORE write1 2 read1 other
ZINTERCARD 2 read1 write1
SINTERCARD 2 read1 read2
PFCOUNT read1 read2
PFMERGE rw1 read1
LMOVE rw1 write1 LEFT RIGHT
BLMOVE rw1 write1 LEFT RIGHT 0
XREADGROUP GROUP g c STREAMS rw1 read1 > >
XREAD COUNT 2 STREAMS read1 0
XADD write1 * f v
LMPOP 2 rw1 read1 LEFT
SUBSCRIBE foo:1 bar
SUBSCRIBE foo:1
PSUBSCRIBE foo:*
PSUBSCRIBE foo:1
PUBLISH foo:1 m
PUBLISH other m
SPUBLISH other m
SSUBSCRIBE foo:2
UNSUBSCRIBE other
PUNSUBSCRIBE
AUTH x
HELLO 3
QUIT
PING
CONFIG GET x
CONFIG SET x y
CONFIG nope
CLIENT ID
CLIENT KILL x
ACL WHOAMI
ACL LIST
SELECT 0
SELECT 1
DEBUG sleep 0
NOPE x
GET
WATCH other
OBJECT FREQ write1
FCALL f 1 other
FLUSHALL
DBSIZE
KEYS *
SCAN 0
`

var aclUsers = []string{
	"+@all %R~read* %W~write* %RW~rw* &foo:*", "+@all (%R~read* %W~write* +@all)", "-@all", "+@read ~read* +select|0", "+@all -@dangerous allkeys &foo:1",
	"+@all -config|set -client ~* &*", "(+get ~read*) (+set ~write*) (+@pubsub &foo:1) +acl|whoami", "+mget ~read1 (+mget ~read*)", "+@all ~* resetchannels", "nocommands ~* &*",
	"+@all %R~* %W~write*", "(+sort +sort_ro ~read1) (+sort %R~*)",
}

func TestCallsOfUsersAreJudgedAsByRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	differentialIn(t, []int{2}, func(d *differ) {
		for _, rules := range aclUsers {
			for _, c := range []*resptest.Conn{d.redis, d.ours} {
				c.Do(append([]string{"ACL", "SETUSER", "u", "reset"}, strings.Fields(rules)...)...)
			}
			for line := range strings.Lines(aclCalls) {
				if words, err := splitWords(strings.TrimSpace(line)); err == nil && len(words) > 0 {
					d.do(append([]string{"ACL", "DRYRUN", "u"}, words...)...)
				}
			}
		}
		d.do("ACL", "DRYRUN", "nobody", "GET", "x")
	})
}

// byUser returns a differ whose connections are those of a user on the same servers.
func (d *differ) byUser(oursAddr, redisAddr, user string) *differ {
	by := &differ{t: d.t, proto: d.proto, redis: resptest.Dial(d.t, redisAddr, d.proto), ours: resptest.Dial(d.t, oursAddr, d.proto)}
	by.do("AUTH", user, "pw")
	return by
}

// logEntries compares ACL LOG but for times and clients.
func (d *differ) logEntries() {
	d.t.Helper()
	args := []string{"ACL", "LOG", "100"}
	fields := func(v resptest.Value) (lines []string) {
		for i := range v.Elems {
			line := ""
			for _, name := range []string{"count", "reason", "context", "object", "username"} {
				line += name + "=" + v.Elems[i].Field(name).String() + " "
			}
			if info := v.Elems[i].Field("client-info").Text; !strings.HasPrefix(info, "id=") || strings.Contains(info, "\n") {
				line += info
			}
			lines = append(lines, line)
		}
		return lines
	}
	want, got := d.both(args)
	if w, g := fields(want), fields(got); !slices.Equal(w, g) {
		d.t.Fatalf("the log has\n%s\nnot\n%s", strings.Join(g, "\n"), strings.Join(w, "\n"))
	}
}

// What a user may not do is refused in Redis' words: at once, in transactions and in scripts.
func TestRefusalsOfUsersAreThoseOfRedis(t *testing.T) {
	redis := redistest.Start7(t)
	_, addr := serveTest(t, nil)
	for _, proto := range []int{2, 3} {
		d := &differ{t: t, proto: proto, redis: resptest.Dial(t, redis, proto), ours: resptest.Dial(t, addr, proto)}
		d.run(`
FLUSHALL
ACL LOG RESET
ACL SETUSER u reset on >pw %R~read* %W~write* ~rw* &foo:* +@all -flushall -config|set -debug -acl|setuser
AUTH u wrong
AUTH nobody pw
SET read1 1
RPUSH readlist 1 2 3
`)
		u := d.byUser(addr, redis, "u")
		u.run(`
ACL WHOAMI
ACL SETUSER u +@all
HELLO 2 AUTH u wrong
GET read1
GET write1
SET read1 2
FLUSHALL
CONFIG SET maxmemory 0
PUBLISH foo:1 m
PUBLISH other m
SORT readlist BY w* ALPHA
SORT readlist GET read*
SORT readlist
SORT_RO readlist LIMIT 0 1 BY other*
SORT readlist LIMIT x y GET read*
EVAL "return redis.call('GET', 'read1')" 0
EVAL "return redis.call('GET', 'other')" 0
EVAL "return redis.call('SET', KEYS[1], 'x')" 1 rw1
EVAL "return redis.call('SET', KEYS[1], 'x')" 1 read1
EVAL "return redis.pcall('FLUSHALL')" 0
EVAL "return redis.call('PUBLISH', 'other', 'x')" 0
EVAL "return redis.call('PUBLISH', 'foo:2', 'x')" 0
EVAL "return redis.call('SORT', 'readlist', 'GET', 'x')" 0
EVAL "return {redis.acl_check_cmd('GET','read1'), redis.acl_check_cmd('GET','other'), redis.acl_check_cmd('flushall'), redis.acl_check_cmd('config','get','x')}" 0
EVAL "return redis.acl_check_cmd('nope')" 0
MULTI
GET read1
GET other
EXEC
MULTI
GET read1
SET write1 5
DISCARD
MULTI
GET read1
SET write1 6
EVAL "return redis.pcall('GET', 'other')" 0
EVAL "return redis.call('GET', 'read1')" 0
EXEC
MULTI
GET read1
SET write1 7
GET rw1
`)
		d.run("ACL SETUSER u -set resetkeys %R~read* -exists")
		u.run(`
EXEC
GET rw1
MULTI
GET read1
`)
		d.run("ACL SETUSER u -exec")
		u.run(`
EXEC
DISCARD
RESET
ACL WHOAMI
CLIENT KILL USER nobody
CLIENT KILL USER u
`)
		d.logEntries()
	}
}
