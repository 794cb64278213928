package resp

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// claimScript is XREADGROUP with CLAIM, of Redis 8.4, and XNACK, of 8.8, written from redis.io's documentation
// and from how Redis' own source orders what is pending. Each line has a client, a command and its reply;
// with ~ the reply comes later, for a line without a command. A number of seconds lets time pass. How long
// an entry was pending is rounded down to seconds.
const claimScript = `
a XGROUP CREATE s g 0 MKSTREAM => +OK
a XREADGROUP GROUP g a CLAIM 5000 STREAMS s > => _*
a XADD s 1-0 f 1 => $1-0
a XADD s 2-0 f 2 => $2-0
a XADD s 3-0 f 3 => $3-0
a XREADGROUP GROUP g a COUNT 2 CLAIM 5000 STREAMS s > => *(*($s *(*($1-0 *($f $1) :0 :0) *($2-0 *($f $2) :0 :0))))
3
b XREADGROUP GROUP g b CLAIM 5000 COUNT 1 STREAMS s > => *(*($s *(*($3-0 *($f $3) :0 :0))))
b XREADGROUP GROUP g b CLAIM 5000 STREAMS s > => _*
3
# The oldest come first, then what is new, COUNT in all.
b XADD s 4-0 f 4 => $4-0
b XADD s 5-0 f 5 => $5-0
b XREADGROUP GROUP g b CLAIM 5000 COUNT 3 STREAMS s > => *(*($s *(*($1-0 *($f $1) :6000 :1) *($2-0 *($f $2) :6000 :1) *($4-0 *($f $4) :0 :0))))
1
b XREADGROUP CLAIM 3000 GROUP g b COUNT 1 STREAMS s > => *(*($s *(*($3-0 *($f $3) :4000 :1))))
b XPENDING s g - + 9 a => *
b XPENDING s g => *(:4 $1-0 $4-0 *(*($b $4)))
# An ID other than > reads the history, and CLAIM means nothing.
b XREADGROUP GROUP g b CLAIM 0 COUNT 1 STREAMS s 0 => *(*($s *(*($1-0 *($f $1)))))
# NOACK is for what is new.
a XREADGROUP GROUP g a NOACK CLAIM 0 STREAMS s > => *(*($s *(*($2-0 *($f $2) :1000 :2) *($4-0 *($f $4) :1000 :1) *($3-0 *($f $3) :0 :2) *($1-0 *($f $1) :0 :3) *($5-0 *($f $5) :0 :0))))
a XPENDING s g => *(:4 $1-0 $4-0 *(*($a $4)))
a XREADGROUP GROUP g b CLAIM 9223372036854775807 STREAMS s > => _*
# What is no entry any more stays pending.
a XDEL s 2-0 3-0 => :2
1
b XREADGROUP GROUP g b CLAIM 1000 STREAMS s > => *(*($s *(*($1-0 *($f $1) :1000 :4) *($4-0 *($f $4) :1000 :2))))
b XPENDING s g - + 9 a => *(*($2-0 $a :1000 :3) *($3-0 $a :1000 :3))
b XACK s g 2-0 3-0 1-0 4-0 => :4
b XREADGROUP GROUP g b CLAIM 0 STREAMS s > => _*
# Releases.
a XADD s 6-0 f 6 => $6-0
a XADD s 7-0 f 7 => $7-0
a XADD s 8-0 f 8 => $8-0
a XREADGROUP GROUP g a STREAMS s > => *(*($s *(*($6-0 *($f $6)) *($7-0 *($f $7)) *($8-0 *($f $8)))))
a XNACK s g FATAL IDS 2 7-0 9-0 => :1
a XNACK s g silent ids 1 6-0 => :1
a XPENDING s g - + 9 => *(*($6-0 $ :-1 :0) *($7-0 $ :-1 :9223372036854775807) *($8-0 $a :0 :1))
a XPENDING s g IDLE 60000 - + 9 => *(*($6-0 $ :-1 :0) *($7-0 $ :-1 :9223372036854775807))
a XPENDING s g => *(:3 $6-0 $8-0 *(*($a $1)))
a XINFO GROUPS s => *(*($name $g $consumers :2 $pending :3 $last-delivered-id $8-0 $entries-read :8 $lag :0))
a XREADGROUP GROUP g a STREAMS s 0 => *(*($s *(*($8-0 *($f $8)))))
b XCLAIM s g b 99999999 6-0 8-0 JUSTID => *($6-0)
b XNACK s g FAIL IDS 1 6-0 RETRYCOUNT 7 => :1
b XREADGROUP GROUP g b CLAIM 60000 COUNT 1 STREAMS s > => *(*($s *(*($7-0 *($f $7) :NOW :9223372036854775807))))
b XAUTOCLAIM s g b 60000 0 => *($0-0 *(*($6-0 *($f $6))) *)
b XPENDING s g - + 9 b => *(*($6-0 $b :0 :8) *($7-0 $b :0 :9223372036854775807))
b XNACK s g SILENT IDS 1 6-0 => :1
b XNACK s g SILENT IDS 1 6-0 => :1
b XPENDING s g 6-0 6-0 9 => *(*($6-0 $ :-1 :6))
b XACK s g 6-0 7-0 8-0 => :3
b XNACK s g FAIL IDS 3 6-0 7-0 2-0 FORCE => :2
b XNACK s g FAIL FORCE IDS 1 8-0 RETRYCOUNT 3 => :1
b XPENDING s g - + 9 => *(*($6-0 $ :-1 :0) *($7-0 $ :-1 :0) *($8-0 $ :-1 :3))
b XGROUP DELCONSUMER s g a => :0
b XPENDING s g => *(:3 $6-0 $8-0 *)
b COPY s copy => :1
b XACK copy g 6-0 7-0 8-0 => :3
b XACK s g 7-0 => :1
b XREADGROUP GROUP g b CLAIM 0 STREAMS s > => *(*($s *(*($6-0 *($f $6) :NOW :0) *($8-0 *($f $8) :NOW :3))))
b XACK s g 6-0 8-0 => :2
# Waiting.
a XADD s 9-0 f 9 => $9-0
a XREADGROUP GROUP g a STREAMS s > => *(*($s *(*($9-0 *($f $9)))))
b~ XREADGROUP GROUP g b BLOCK 0 CLAIM 10000 STREAMS s >
c~ XREADGROUP GROUP g c BLOCK 5000 CLAIM 20000 STREAMS s >
6
c => _*
5
b => *(*($s *(*($9-0 *($f $9) :10000 :1))))
c~ XREADGROUP GROUP g c BLOCK 0 CLAIM 20000 STREAMS s >
a XNACK s g FAIL IDS 1 9-0 => :1
c => *(*($s *(*($9-0 *($f $9) :NOW :2))))
c~ XREADGROUP GROUP g c BLOCK 0 CLAIM 20000 STREAMS s >
a XADD s 10-0 f 10 => $10-0
c => *(*($s *(*($10-0 *($f $10) :0 :0))))
a XACK s g 9-0 10-0 => :2
# Nothing is pending: the time begins once something is.
b~ XREADGROUP GROUP g b BLOCK 0 CLAIM 3000 STREAMS s >
9
a MULTI => +OK
a XADD s 11-0 f 11 => +QUEUED
a XREADGROUP GROUP g a STREAMS s > => +QUEUED
a EXEC => *($11-0 *(*($s *(*($11-0 *($f $11))))))
4
b => *(*($s *(*($11-0 *($f $11) :3000 :1))))
b~ XREADGROUP GROUP g b BLOCK 0 CLAIM 3000 STREAMS s >
1
a XCLAIM s g a 0 11-0 JUSTID => *($11-0)
2
a XACK s g 11-0 => :1
9
a XGROUP DESTROY s g => :1
b => -NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option
a MULTI => +OK
a XGROUP CREATE s g 11-0 => +QUEUED
a XREADGROUP GROUP g a BLOCK 0 CLAIM 0 STREAMS s > => +QUEUED
a EXEC => *(+OK _*)
a EVAL return~redis.call('XNACK',KEYS[1],'g','FAIL','IDS',1,'1-0') 1 s => :0
# Faults.
a XREAD CLAIM 5 STREAMS s 0 => -ERR The CLAIM option is only supported by XREADGROUP. You called XREAD instead.
a XREADGROUP GROUP g a CLAIM x STREAMS s > => -ERR min-idle-time is not an integer or out of range
a XREADGROUP GROUP g a CLAIM 18446744073709551616 STREAMS s > => -ERR min-idle-time is not an integer or out of range
a XREADGROUP GROUP g a CLAIM -1 STREAMS s > => -ERR min-idle-time must be a positive integer
a XREADGROUP GROUP g a STREAMS s > CLAIM 5 => -ERR Invalid stream ID specified as stream command argument
a XREADGROUP GROUP g \x00ringside:~released\x00 STREAMS s > => -ERR the name is reserved
a XGROUP DELCONSUMER s g \x00ringside:~released\x00 => :0
a SET text x => +OK
a XNACK text g FAIL IDS 1 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
a XNACK none g FAIL IDS 1 1 => -NOGROUP No such key 'none' or consumer group 'g'
a XNACK s none nope IDS 1 1 => -NOGROUP No such key 's' or consumer group 'none'
a XNACK s g NACK IDS 1 1 => -ERR mode must be SILENT, FAIL, or FATAL
a XNACK s g FAIL IDS 0 1 => -ERR numids must be a positive integer
a XNACK s g FAIL IDS x 1 => -ERR numids must be a positive integer
a XNACK s g FAIL IDS 9223372036854775807 1 => -ERR numids must be a positive integer
a XNACK s g FAIL IDS 2 1 => -ERR number of IDs doesn't match numids
a XNACK s g FAIL IDS 1 1 2 => -ERR Unrecognized XNACK option '2'
a XNACK s g FAIL IDS 1 x => -ERR Invalid stream ID specified as stream command argument
a XNACK s g FAIL FORCE FORCE FORCE => -ERR syntax error, expected IDS keyword
a XNACK s g FAIL IDS 1 1 RETRYCOUNT -1 => -ERR Invalid RETRYCOUNT value, must be >= 0
a XNACK s g FAIL IDS 1 1 RETRYCOUNT x => -ERR value is not an integer or out of range
a XNACK s g FAIL IDS 1 1 RETRYCOUNT => -ERR Unrecognized XNACK option 'RETRYCOUNT'
a XNACK s g FAIL IDS 1 => -ERR wrong number of arguments for 'xnack' command
# Groups and consumers that are called like options.
a DEL s => :1
a XADD s 1-0 f 1 => $1-0
a XGROUP CREATE s streams 0 => +OK
a XREADGROUP COUNT 10 GROUP streams c STREAMS s > => *(*($s *(*($1-0 *($f $1)))))
a XREADGROUP GROUP streams streams COUNT 1 STREAMS s > => _*
a XREADGROUP GROUP streams c CLAIM 60000 STREAMS s > => _*
a XREADGROUP GROUP STREAMS s x y > => -ERR syntax error
a COMMAND GETKEYS XREADGROUP COUNT 10 GROUP streams c STREAMS s > => *($s)
b~ XREADGROUP GROUP streams block BLOCK 0 STREAMS s >
a XADD s 2-0 f 2 => $2-0
b => *(*($s *(*($2-0 *($f $2)))))
# How much was released is said of groups that have something of it.
a EVAL return~#redis.call('XINFO','STREAM',KEYS[1],'FULL')[18][1] 1 s => :14
a XNACK s streams SILENT IDS 1 1-0 => :1
a EVAL return~redis.call('XINFO','STREAM',KEYS[1],'FULL')[18][1][11] 1 s => $nacked-count
a EVAL return~redis.call('XINFO','STREAM',KEYS[1],'FULL')[18][1][12] 1 s => :1
`

// consumersScript says when consumers were seen and active, as Redis does from 7.2 on.
const consumersScript = `
a XGROUP CREATE s g 0 MKSTREAM => +OK
a XGROUP CREATECONSUMER s g made => :1
a XADD s 1-0 f 1 => $1-0
a XREADGROUP GROUP g a STREAMS s > => *(*($s *(*($1-0 *($f $1)))))
5
a XREADGROUP GROUP g a STREAMS s > => _*
a XREADGROUP GROUP g b STREAMS s > => _*
2
a XINFO CONSUMERS s g => *(*($name $a $pending :1 $idle :2000 $inactive :7000) *($name $b $pending :0 $idle :2000 $inactive :-1) *($name $made $pending :0 $idle :7000 $inactive :-1))
a XGROUP DELCONSUMER s g made => :0
a XCLAIM s g b 99999999 1-0 => *
a XAUTOCLAIM s g c 99999999 0 => *($0-0 * *)
a XINFO CONSUMERS s g => *(*($name $a $pending :1 $idle :2000 $inactive :7000) *($name $b $pending :0 $idle :0 $inactive :-1) *($name $c $pending :0 $idle :0 $inactive :-1))
a XCLAIM s g b 0 1-0 JUSTID => *($1-0)
1
a XAUTOCLAIM s g c 1000 0 JUSTID => *($0-0 *($1-0) *)
1
a XREADGROUP GROUP g a CLAIM 1000 STREAMS s > => *(*($s *(*($1-0 *($f $1) :1000 :1))))
3
a XREADGROUP GROUP g a STREAMS s 0 => *(*($s *(*($1-0 *($f $1)))))
a XADD s 2-0 f 2 => $2-0
a XREADGROUP GROUP g b NOACK STREAMS s > => *(*($s *(*($2-0 *($f $2)))))
a XINFO CONSUMERS s g => *(*($name $a $pending :1 $idle :0 $inactive :3000) *($name $b $pending :0 $idle :0 $inactive :5000) *($name $c $pending :0 $idle :4000 $inactive :4000))
# Within a second, one that gets nothing is not noted again.
6
b~ XREADGROUP GROUP g b BLOCK 500 STREAMS s >
1
b => _*
a XINFO CONSUMERS s g => *(*($name $a $pending :1 $idle :7000 $inactive :10000) *($name $b $pending :0 $idle :1000 $inactive :12000) *($name $c $pending :0 $idle :11000 $inactive :11000))
# A payload of Redis 7.2 has both times, one of 7.0 only the first.
a CONFIG SET dump-rdb-version 11 => +OK
a EVAL return~redis.call('RESTORE',KEYS[2],0,redis.call('DUMP',KEYS[1])) 2 s t => +OK
a XINFO CONSUMERS t g => *(*($name $a $pending :1 $idle :7000 $inactive :10000) *($name $b $pending :0 $idle :1000 $inactive :12000) *($name $c $pending :0 $idle :11000 $inactive :11000))
a CONFIG SET dump-rdb-version 10 => +OK
a EVAL return~redis.call('RESTORE',KEYS[2],0,redis.call('DUMP',KEYS[1])) 2 s u => +OK
a XINFO CONSUMERS u g => *(*($name $a $pending :1 $idle :7000 $inactive :7000) *($name $b $pending :0 $idle :1000 $inactive :1000) *($name $c $pending :0 $idle :11000 $inactive :11000))
a XGROUP CREATECONSUMER s g d => :1
a EVAL return~redis.call('XINFO','STREAM',KEYS[1],'FULL')[18][1][14][4][6] 1 s => :-1
`

// roundIdle rounds how long entries were pending down to seconds.
func roundIdle(v *resptest.Value) {
	for i := range v.Elems {
		roundIdle(&v.Elems[i])
	}
	for _, name := range []string{"idle", "inactive"} {
		if at := v.Field(name); at != nil {
			roundDown(at)
		}
	}
	if len(v.Elems) == 4 && v.Elems[2].Kind == ':' {
		roundDown(&v.Elems[2])
	}
}

func roundDown(v *resptest.Value) {
	idle, _ := strconv.Atoi(v.Text)
	if idle >= 0 {
		v.Text = strconv.Itoa(idle / 1000 * 1000)
	}
	if idle > 1e11 { // since 1970: it was released
		v.Text = "NOW"
	}
}

func TestPendingEntriesAreClaimedAndReleased(t *testing.T) { playInBubble(t, claimScript) }

func TestConsumersAreSeenAndActive(t *testing.T) { playInBubble(t, consumersScript) }

// playInBubble plays a script in virtual time, with a server of its own.
func playInBubble(t *testing.T, script string) {
	t.Helper()
	fakenet.Bubble(t, func(t *testing.T) {
		_, dial := serveBubble(t, func(*Config) {})
		clients := make(map[string]*resptest.Conn)
		for line := range strings.Lines(script) {
			line = strings.TrimSpace(line)
			if seconds, err := strconv.Atoi(line); err == nil {
				time.Sleep(time.Duration(seconds) * time.Second)
				continue
			}
			if line == "" || line[0] == '#' {
				continue
			}
			command, want, now := strings.Cut(line, " => ")
			name, command, _ := strings.Cut(command, " ")
			name = strings.TrimSuffix(name, "~")
			if clients[name] == nil {
				c := dial()
				clients[name] = &resptest.Conn{Reader: resptest.NewReader(c), T: t, C: c}
			}
			o := clients[name]
			if command != "" {
				var words []string
				for word := range strings.FieldsSeq(command) {
					words = append(words, unescape(t, word))
				}
				o.Send(words...)
			}
			if !now {
				time.Sleep(100 * time.Millisecond) // so that it waits when the next line runs
				continue
			}
			got := o.Next()
			if roundIdle(&got); got.String() != want {
				t.Fatalf("%s\n got %q\nwant %q", line, got, want)
			}
		}
	})
}

// Pending entries that were trimmed are passed by reads, some thousands each, also by one that waits.
func TestClaimPassesManyEntriesThatAreGone(t *testing.T) {
	randomtest.DrawShort(t, 4)
	_, addr := serveTest(t, nil)
	o, waits := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	var adds [][]string
	for i := range 25_000 {
		adds = append(adds, []string{"XADD", "s", strconv.Itoa(i+1) + "-0", "f", "v"})
	}
	o.DoAll(adds)
	o.Do("XGROUP", "CREATE", "s", "g", "0")
	o.Do("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
	o.Want(":24999", "XTRIM", "s", "MAXLEN", "1")
	for range 2 {
		o.Want("_*", "XREADGROUP", "GROUP", "g", "c", "CLAIM", "0", "STREAMS", "s", ">")
	}
	waits.Send("XREADGROUP", "GROUP", "g", "d", "BLOCK", "0", "CLAIM", "0", "STREAMS", "s", ">")
	if got := waits.Next().String(); !strings.HasPrefix(got, "*(*($s *(*($25000-0 *($f $v) :") {
		t.Errorf("the client that waited got %s", got)
	}
	o.Want("*(:25000 $1-0 $25000-0 *(*($c $24999) *($d $1)))", "XPENDING", "s", "g")
	o.Do("DEL", "s") // the same again, but that it waits before there is anything
	o.DoAll(adds)
	o.Do("XGROUP", "CREATE", "s", "g", "0")
	o.Do("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
	o.Do("XREADGROUP", "GROUP", "g", "c", "CLAIM", "9999999", "STREAMS", "s", ">")
	waits.Send("XREADGROUP", "GROUP", "g", "d", "BLOCK", "0", "CLAIM", "9999999", "STREAMS", "s", ">")
	awaitBlocked(t, o, 1)
	o.Want(":24999", "XTRIM", "s", "MAXLEN", "1")
	o.Want(":1", "XNACK", "s", "g", "FAIL", "IDS", "1", "25000-0")
	if got := waits.Next().String(); !strings.HasPrefix(got, "*(*($s *(*($25000-0 *($f $v) :") {
		t.Errorf("the client that waited got %s", got)
	}
}

// A client that waits through another node is woken when the time of an entry has come.
func TestClaimWaitsAtTheOwner(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(r.all(1))
	o, owner := resptest.Dial(t, r.addrs[0], 3), resptest.Dial(t, r.addrs[1], 3)
	o.Do("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
	o.Send("XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "CLAIM", "30", "STREAMS", "s", ">")
	r.waits(1, 1)
	owner.Want("*($1-0 *(*($s *(*($1-0 *($f $v))))))", "EVAL", "return {redis.call('XADD', KEYS[1], '1-0', 'f', 'v'), redis.call('XREADGROUP', 'GROUP', 'g', 'd', 'STREAMS', KEYS[1], '>')}", "1", "s")
	if got := o.Next().String(); !strings.HasPrefix(got, "%($s *(*($1-0 *($f $v) :") || !strings.HasSuffix(got, " :1)))") {
		t.Errorf("the client that waited got %s", got)
	}
}

// TestXreadOfTheNewestEntry has "+", of Redis 7.4, stand for the newest entry that is there.
func TestXreadOfTheNewestEntry(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("_*", "XREAD", "STREAMS", "s", "+")
	for i := range 300 {
		o.Do("XADD", "s", "1-"+strconv.Itoa(i+1), "n", strconv.Itoa(i+1))
	}
	o.Want("*(*($s *(*($1-300 *($n $300)))))", "XREAD", "STREAMS", "s", "+")
	o.Want("*(*($s *(*($1-300 *($n $300)))))", "XREAD", "COUNT", "5", "BLOCK", "0", "STREAMS", "none", "s", "+", "+")
	o.Want(":1", "XDEL", "s", "1-300")
	o.Want("*(*($s *(*($1-299 *($n $299)))))", "XREAD", "STREAMS", "s", "+")
	o.Want("+OK", "XGROUP", "CREATE", "s", "g", "0")
	if got := o.Do("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", "+").Text; !strings.HasPrefix(got, "ERR The + ID is meaningless") {
		t.Errorf("XREADGROUP: %q", got)
	}
	// One that waits gets what comes.
	waiter := resptest.Dial(t, addr, 2)
	waiter.Send("XREAD", "BLOCK", "0", "STREAMS", "later", "+")
	id := resptest.Dial(t, addr, 2)
	resptest.WaitFor(t, "the client waits", func() bool { return strings.Contains(id.Do("INFO", "clients").Text, "blocked_clients:1") })
	o.Do("XADD", "later", "1-1", "a", "b")
	if got := waiter.Next().String(); got != "*(*($later *(*($1-1 *($a $b)))))" {
		t.Errorf("after a wait: %s", got)
	}
}
