package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// blockingEvents are lines of what clients wait with, set apart by semicolons, and behind a bar
// what somebody else does meanwhile. Without a bar nobody waits.
const blockingEvents = `
BLPOP l 0 | RPUSH l a
BLPOP l 0 | RPUSH l a b
BRPOP l k 0 | LPUSH k a
BLPOP l 0; BLPOP l 0; BRPOP l 0 | RPUSH l a b c d
BLMOVE l m LEFT RIGHT 0 | RPUSH l a b
BLMOVE l l LEFT RIGHT 0 | RPUSH l a b
BRPOPLPUSH l m 0 | RPUSH l a
BLMOVE l m LEFT RIGHT 0; BLPOP m 0 | RPUSH l a
BLMOVE l m LEFT RIGHT 0; BLMOVE m n LEFT LEFT 0; BRPOP n 0 | RPUSH l a b
BLMPOP 0 1 l LEFT COUNT 2 | RPUSH l a b c
BLMPOP 0 2 k l LEFT COUNT 3 | RPUSH l a b c
BZPOPMIN z 0 | ZADD z 1 a
BZPOPMAX z 0; BZMPOP 0 1 z MIN COUNT 2 | ZADD z 1 a 2 b 3 c
BZMPOP 0 2 y z MIN | ZADD z 1 a 2 b
RPUSH source 3 1 2
BLPOP l 0 | SORT source STORE l
BLPOP l 0 | COPY source l
BLPOP l 0 | RENAME source l
BLPOP l 0 | EVAL "redis.call('rpush',KEYS[1],'a') return redis.call('rpush',KEYS[1],'b')" 1 l
BLPOP l 0; BLPOP k 0 | EVAL "redis.call('rpush','l','a') redis.call('rpush','k','a') return redis.call('set','other','x')" 0
RPUSH source a b
BLPOP l 0 | LMOVE source l LEFT LEFT
BLMOVE l source LEFT RIGHT 0 | RPOPLPUSH source l
ZADD from 1 a 2 b
BZPOPMIN z 0 | ZRANGESTORE z from 0 -1
BZPOPMIN z 0 | ZUNIONSTORE z 1 from
XGROUP CREATE x g $ MKSTREAM
XGROUP CREATECONSUMER x g c
XGROUP CREATECONSUMER x g d
XGROUP CREATECONSUMER x g e
XREADGROUP GROUP g c BLOCK 0 STREAMS x > | XADD x 1-1 a b
XREADGROUP GROUP g d NOACK BLOCK 0 STREAMS x >; XREAD BLOCK 0 STREAMS x $ | XADD x 2-1 a b
DEL x
XREAD BLOCK 0 STREAMS x 0 | XADD x 1-1 a b
BLPOP l 0.01
BLMOVE l m LEFT LEFT 0.01
XREADGROUP GROUP g c BLOCK 10 STREAMS x >
`

// What is told of keys that somebody has waited for is what Redis tells, in its order.
func TestEventsOfCommandsThatWaitAgainstRedis(t *testing.T) {
	redis := redistest.Start7(t)
	for _, cluster := range []bool{false, true} {
		_, own := serveTest(t, nil)
		if cluster { // all keys at another node
			r := routedTest(t, 2)
			r.placeAll(oneOwner(t, "n1"))
			own = r.addrs[0]
		}
		var watchers [2]*eventWatcher
		for i, addr := range []string{redis, own} {
			watchers[i] = watchEvents(t, addr, "KEAmn")
			watchers[i].other.Do("FLUSHALL")
		}
		for line := range strings.Lines(strings.TrimSpace(blockingEvents)) {
			first, last, waits := strings.Cut(strings.TrimSpace(line), " | ")
			if !waits {
				first, last = "", first
			}
			words, err := splitWords(last)
			if err != nil {
				t.Fatal(err)
			}
			var events, replies [2]string
			for i, w := range watchers {
				var waiting []*resptest.Conn
				for n, command := range strings.Split(first, ";") {
					if args := strings.Fields(command); len(args) > 0 {
						o := resptest.Dial(t, w.C.RemoteAddr().String(), 2)
						o.Send(args...)
						awaitBlocked(t, w.other, n+1)
						waiting = append(waiting, o)
					}
				}
				reply, told := w.after(words...)
				events[i], replies[i] = strings.Join(told, "\n"), reply
				for _, o := range waiting {
					replies[i] += " " + o.Next().String()
				}
				if waits { // what was not taken
					w.after("DEL", "l", "m", "n", "k", "z", "other")
				}
			}
			if events[0] != events[1] || replies[0] != replies[1] {
				t.Errorf("cluster: %v, %s:\n got %q %s\nwant %q %s", cluster, line, events[1], replies[1], events[0], replies[0])
			}
		}
	}
}
