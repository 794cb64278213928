package resp

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// eventScript has a line for each command, in all cases that have events of their own.
const eventScript = `
SET a 1
SET a 1 EX 100
SET a 2 KEEPTTL
SET a 2 NX
SET b 2 XX
SET a 3 GET
SETEX a 100 1
PSETEX a 100000 1
SETNX a 2
SETNX b 2
GETSET a 1
GETDEL a
GETDEL a
GET a
MGET a b c
SET a 1
GETEX a EX 100
GETEX a PERSIST
GETEX a PERSIST
GETEX a PXAT 1
GETEX a
MSET a 1 b 2 a 3
MSETNX a 1 c 2
MSETNX c 1 d 2
INCR a
DECRBY a 3
INCRBYFLOAT a 1.5
INCR a
APPEND a x
APPEND e x
SETRANGE a 2 abc
SETRANGE a 2 %
SETRANGE nope 0 %
SETBIT bits 7 1
SETBIT bits 7 1
BITOP OR dst bits a
BITOP AND dst none nope
BITOP AND dst none nope
BITFIELD bits GET u8 0
BITFIELD bits SET u8 0 1 GET u8 0
BITFIELD bits OVERFLOW FAIL INCRBY u2 0 100
BITFIELD new SET u8 0 1
DEL a a none b
UNLINK c d
DEL none
SET a 1
EXPIRE a 100
EXPIRE a 50 GT
EXPIRE none 100
PERSIST a
PERSIST a
PEXPIREAT a 1
SET a 1
EXPIRE a -1
DEL a
EXISTS a
TYPE a
TTL a
OBJECT ENCODING a
TOUCH a
STRLEN a
SET a 1
RENAME a b
RENAME b b
SET a 1
RENAME a b
RENAME none b
SET a 1
RENAMENX a b
RENAMENX a c
COPY b c
COPY b d
COPY b c REPLACE
COPY none c REPLACE
DUMP none
FLUSHALL
LPUSH l 1 2 3
RPUSH l 4
LPUSHX l 1
RPUSHX none 1
LPOP l
RPOP l 0
RPOP l 2
LSET l 0 x
LSET l 100 x
LINSERT l BEFORE x y
LINSERT l BEFORE nope y
LREM l 0 nope
LREM l 0 x
LTRIM l 0 0
LTRIM l 0 0
LTRIM l 5 6
LTRIM l 0 1
RPUSH l 1 2
RPOPLPUSH l m
LMOVE l m LEFT RIGHT
LMOVE l m LEFT RIGHT
LMOVE m m LEFT RIGHT
LMPOP 2 l m LEFT COUNT 1
LMPOP 2 l m RIGHT COUNT 10
LMPOP 2 l m RIGHT
LRANGE l 0 -1
LLEN l
LPOP l
LINDEX l 0
RPUSH l 1
LREM l 1 1
RPUSH l 1
LPOP l 5
LPUSH l 1
LMOVE l l LEFT RIGHT
SADD s 1 2 3
SADD s 1
SREM s 9
SREM s 1
SADD t 2
SMOVE s t 2
SMOVE s t 2
SMOVE s t 3
SMOVE none t 3
SADD s 1 2
SPOP s 0
SPOP t 1
SPOP t 10
SPOP t 10
SPOP t
SADD t 1
SPOP t
SADD t 1 2
SINTERSTORE u s t
SINTERSTORE u s none
SINTERSTORE u s none
SUNIONSTORE u s t
SDIFFSTORE u s t
SUNIONSTORE s s t
SDIFFSTORE none nope nada
SREM s 1 2
SISMEMBER none 1
SMEMBERS none
SCARD none
SRANDMEMBER none
SINTERCARD 2 none nope
SET str 1
SUNIONSTORE str t u
HSET h a 1 b 2
HSET h a 1
HMSET h a 2
HSETNX h a 1
HSETNX h c 1
HINCRBY h n 1
HINCRBYFLOAT h n 1.5
HINCRBY h c x
XADD st 1 a b
XADD st 2 a b
XADD st 2 a b
XADD st MAXLEN 1 3 a b
XADD st MAXLEN 5 4 a b
XADD st NOMKSTREAM 5 a b
XADD none NOMKSTREAM 5 a b
XTRIM st MAXLEN 3
XTRIM st MAXLEN 2
XDEL st 5 1
XDEL st 5 1
XDEL none 5
XSETID st 10
XADD st 11 a b
XGROUP CREATE st g 0
XGROUP CREATE st g 0
XGROUP CREATE st2 g 0 MKSTREAM
XGROUP CREATE st3 g 0
XGROUP SETID st g 0
XGROUP CREATECONSUMER st g c
XGROUP CREATECONSUMER st g c
XREADGROUP GROUP g d COUNT 1 STREAMS st >
XREADGROUP GROUP g d STREAMS st 0
XREADGROUP GROUP g e STREAMS st 0
XREADGROUP GROUP g e STREAMS none >
XCLAIM st g f 0 4
XCLAIM st g f 0 11 FORCE
XCLAIM none g f 0 11 FORCE
XAUTOCLAIM st g h 0 0
XAUTOCLAIM none g h 0 0
XACK st g 4
XACK none g 4
XPENDING st g
XPENDING none g
XRANGE none - +
XREAD STREAMS none 0
XINFO STREAM none
XINFO GROUPS none
XLEN none
XGROUP DELCONSUMER st g f
XGROUP DELCONSUMER st g f
XGROUP DESTROY st g
XGROUP DESTROY st g
XTRIM st MAXLEN 0
XTRIM none MAXLEN 0
COPY st st4
RENAME st4 st5
DEL st st2 st5
HDEL h nope
HDEL h a b
HDEL h c n
HDEL h c n
HGET h a
HGETALL h
HLEN h
HMGET h a
HSCAN h 0
HRANDFIELD h
LPUSH h 1
HSET h a 1
GET h
PFADD hll a b
PFADD hll a
PFADD hll2
PFMERGE hll3 hll hll2
PFCOUNT hll2 hll3
PFDEBUG todense hll3
DEL numbers
RPUSH numbers 3 1 2
SORT numbers STORE sorted
SORT none STORE sorted
SORT none STORE sorted
SORT numbers LIMIT 9 1 STORE numbers
ZADD z 1 a 2 b 3 c 4 d 5 e
ZADD z 1 a
ZADD z XX 9 nope
ZADD z 2 a
ZADD z INCR 1 a
ZADD z INCR NX 1 a
ZINCRBY z 0 a
ZINCRBY z 1 f
ZREM z nope
ZREM z a f
ZREMRANGEBYRANK z 0 0
ZREMRANGEBYRANK z 7 9
ZREMRANGEBYSCORE z 3 3
ZREMRANGEBYLEX z - [d
ZPOPMIN z
ZPOPMIN z
ZPOPMAX z 0
ZADD z 1 a 2 b 3 c 4 d
ZPOPMAX z 2
ZMPOP 2 y z MIN
ZMPOP 2 y z MAX COUNT 5
ZADD z 1 a 2 b
ZADD y 1 a
ZUNIONSTORE x 2 y z
ZINTERSTORE x 2 y z
ZDIFFSTORE x 2 y z
ZDIFFSTORE x 2 y z
ZDIFFSTORE z 2 z y
ZRANGESTORE x z 0 -1
ZRANGESTORE x z 5 9
ZRANGESTORE x none 5 9
ZSCORE none a
ZRANGE none 0 1
ZUNION 2 none z
ZINTERCARD 2 none z
ZRANDMEMBER none
ZREMRANGEBYRANK z 0 -1
GEOADD g 13 38 p 15 37 q
GEOADD g 13 38 p
GEORADIUS g 15 37 200 km STORE x
GEORADIUSBYMEMBER g p 1 km STOREDIST x
GEORADIUS g 1 1 1 m STORE x
GEOSEARCHSTORE x g FROMMEMBER p BYRADIUS 1 km
GEOSEARCHSTORE x none FROMMEMBER p BYRADIUS 1 km
GEOPOS none a
GEOSEARCH none FROMLONLAT 1 1 BYRADIUS 1 m
PFADD p a b
PFADD p a
PFADD p
PFCOUNT p q
PFMERGE q p none
PFMERGE q p
SORT l BY nosort STORE o
SORT none STORE o
SORT none STORE o
ZADD z 1 a 2 b 3 c 4 d
ZADD z 1 a
ZADD z XX 5 a
ZADD z XX 5 nope
ZADD z INCR 1 a
ZADD z NX INCR 1 a
ZINCRBY z 0 a
ZINCRBY z 1 new
ZREM z nope
ZREM z a new
ZUNIONSTORE y 1 z
ZINTERSTORE y 2 z none
ZINTERSTORE y 2 z none
ZDIFFSTORE y 2 z none
ZRANGESTORE y z 0 1
ZRANGESTORE y z 5 6
ZRANGESTORE z z 0 -1
ZPOPMIN z 0
ZPOPMIN z
ZPOPMAX z 10
ZPOPMAX z
ZMPOP 2 none z MIN
ZADD z 1 a 2 b
ZMPOP 2 none z MAX COUNT 5
ZADD z 1 a 2 b 3 c 4 d
ZREMRANGEBYRANK z 0 0
ZREMRANGEBYRANK z 10 20
ZREMRANGEBYSCORE z 2 2
ZREMRANGEBYLEX z - +
ZRANGE none 0 -1
ZSCORE none a
ZRANK none a
ZCARD none
ZCOUNT none 0 1
ZSCAN none 0
ZRANDMEMBER none
GEOADD geo 13.3 38.1 x 15.0 37.5 y
GEOADD geo XX 13.3 38.1 x
GEOSEARCHSTORE found geo FROMLONLAT 15 37 BYRADIUS 200 km
GEOSEARCHSTORE found geo FROMLONLAT 100 37 BYRADIUS 1 km
GEORADIUS geo 15 37 200 km STORE found
GEORADIUSBYMEMBER geo x 200 km STOREDIST found
GEOSEARCH none FROMLONLAT 15 37 BYRADIUS 200 km
GEODIST none x y
GEOPOS none x
XADD x 1-1 f v
XADD x 2-1 f v
XADD x MAXLEN 2 3-1 f v
XADD none NOMKSTREAM 1-1 f v
XADD x 1-1 f v
XTRIM x MAXLEN 10
XTRIM x MAXLEN 1
XDEL x 9-9
XSETID x 5-0
XGROUP CREATE x g 0
XGROUP CREATE x g 0
XGROUP CREATE made g $ MKSTREAM
XGROUP SETID x g 0
XREADGROUP GROUP g c STREAMS x >
XREADGROUP GROUP g c STREAMS x >
XREADGROUP GROUP nope c STREAMS x >
XREADGROUP GROUP g c STREAMS none >
XACK x g 3-1
XACK none g 3-1
XGROUP SETID x g 0
XREADGROUP GROUP g d COUNT 1 STREAMS x >
XCLAIM x g e 0 3-1
XCLAIM none g e 0 3-1
XAUTOCLAIM x g f 0 0
XAUTOCLAIM none g f 0 0
XPENDING x g
XPENDING none g
XGROUP CREATECONSUMER x g h
XGROUP CREATECONSUMER x g h
XGROUP DELCONSUMER x g h
XGROUP DELCONSUMER x g h
XGROUP DESTROY x g
XGROUP DESTROY x g
XDEL x 3-1
XLEN x
XLEN none
XRANGE none - +
XINFO STREAM none
`

// An eventWatcher has subscribed to all key events of a server.
type eventWatcher struct {
	*resptest.Conn
	other *resptest.Conn
}

func watchEvents(t *testing.T, addr, classes string) *eventWatcher {
	t.Helper()
	w := &eventWatcher{resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)}
	w.other.Want("+OK", "CONFIG", "SET", "notify-keyspace-events", classes)
	w.Do("PSUBSCRIBE", "__key*")
	return w
}

// after runs a command and returns its reply, and the events that it brings about.
func (w *eventWatcher) after(words ...string) (reply string, events []string) {
	w.T.Helper()
	reply = w.other.Do(words...).String()
	w.other.Do("PUBLISH", "__key end", "")
	for {
		v, err := w.Read()
		if err != nil {
			w.T.Fatal(err)
		}
		if v.Elems[2].Text == "__key end" {
			return reply, events
		}
		events = append(events, v.Elems[2].Text+" "+v.Elems[3].Text)
	}
}

func splitLine(line string) []string {
	words := strings.Fields(line)
	for i := range words {
		if words[i] == "%" {
			words[i] = ""
		}
	}
	return words
}

// What Redis tells of keys, and in which order, is told here.
func TestEventsAgainstRedis(t *testing.T) {
	_, own := serveTest(t, nil)
	redis := redistest.Start7(t)
	all := []string{"KEAmn", "KA", "Eg", "E$", "Klshzn", "Ex", "Km", "Ezt", "A"}
	if testing.Short() {
		all = all[:1] // the others are less of the same to the race detector
	}
	for _, classes := range all {
		want, got := watchEvents(t, redis, classes), watchEvents(t, own, classes)
		want.other.Do("FLUSHALL")
		got.other.Do("FLUSHALL")
		for _, line := range strings.Split(strings.TrimSpace(eventScript), "\n") {
			_, w := want.after(splitLine(line)...)
			_, g := got.after(splitLine(line)...)
			if strings.Join(w, "\n") != strings.Join(g, "\n") {
				t.Errorf("%s: %s:\n got %q\nwant %q", classes, line, g, w)
			}
		}
	}
}

// TestRandomEventsAgainstRedis draws commands.
func TestRandomEventsAgainstRedis(t *testing.T) {
	_, own := serveTest(t, nil)
	redis := redistest.Start7(t)
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(eventScript), "\n") {
		// What is drawn at random, or depends on time, cannot be compared. SORT is of lists here. A consumer
		// that gets nothing is created from Redis 7.2 on only.
		name, _, _ := strings.Cut(line, " ")
		if !slices.Contains([]string{"SPOP", "SORT", "XREADGROUP", "XCLAIM", "XAUTOCLAIM"}, name) && !strings.Contains(line, "PEXPIREAT") {
			lines = append(lines, line)
		}
	}
	want, got := watchEvents(t, redis, "KEAmn"), watchEvents(t, own, "KEAmn")
	n := randomtest.Length(3000, 300)
	var done []string
	for range n {
		words := splitLine(lines[rnd.IntN(len(lines))])
		for i := 1; i < len(words); i++ {
			if len(words[i]) <= 2 && words[i] != "" && words[i][0] >= 'a' && rnd.IntN(2) == 0 {
				words[i] = []string{"a", "b", "l", "s", "h", "z"}[rnd.IntN(6)]
			}
		}
		done = append(done, strings.Join(words, " "))
		rw, w := want.after(words...)
		rg, g := got.after(words...)
		if strings.Join(w, "\n") != strings.Join(g, "\n") {
			t.Fatalf("after %q:\n got %s %q\nwant %s %q", done[max(0, len(done)-15):], rg, g, rw, w)
		}
	}
}

// notify-keyspace-events is read and shown as Redis does.
func TestEventSettingAgainstRedis(t *testing.T) {
	_, own := serveTest(t, nil)
	redis := redistest.Start7(t)
	want, got := resptest.Dial(t, redis, 2), resptest.Dial(t, own, 2)
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range 200 {
		var text []byte
		for range rnd.IntN(14) {
			text = append(text, "Ag$lshzxeKEtmdn"[rnd.IntN(15)])
		}
		if i%20 == 0 {
			text = append(text, 'q')
		}
		for _, line := range [][]string{{"CONFIG", "SET", "notify-keyspace-events", string(text)}, {"CONFIG", "GET", "notify-keyspace-events"}} {
			if w, g := want.Do(line...).String(), got.Do(line...).String(); w != g {
				t.Errorf("%q: %s, want %s", line, g, w)
			}
		}
	}
}

// A key whose time has come is told of once, whoever finds it so: before what the command
// that does brings about.
func TestExpiredEvents(t *testing.T) {
	_, addr := serveTest(t, nil)
	w := watchEvents(t, addr, "E$gx")
	for range 20 {
		w.other.Do("SET", "a", "1", "PX", "1")
		var events []string
		for !strings.Contains(strings.Join(events, "|"), "expired") {
			_, more := w.after("SET", "a", "2", "NX")
			events = append(events, more...)
		}
		if got := strings.Join(events, "|"); got != "__keyevent@0__:set a|__keyevent@0__:expire a|__keyevent@0__:expired a|__keyevent@0__:set a" &&
			got != "__keyevent@0__:set a|__keyevent@0__:expire a|__keyevent@0__:expired a" {
			t.Fatal(got)
		}
		if _, events := w.after("DEL", "a"); len(events) > 2 {
			t.Fatal(events)
		}
	}
}
