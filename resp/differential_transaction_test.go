package resp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// transactionScript is sent by several connections: a line begins with the number of one.
const transactionScript = `
0 EXEC
0 DISCARD
0 UNWATCH
0 WATCH
0 WATCH a
0 UNWATCH extra
0 MULTI
0 MULTI
0 WATCH a
0 SET a 1
0 INCR a
0 LPUSH a x
0 GET a
0 PING
0 PING hello
0 ECHO x
0 EXEC
0 EXEC
0 MULTI
0 EXEC
0 MULTI
0 SET a 5
0 DISCARD
0 GET a
0 MULTI
0 SET a 7
0 NOSUCH
0 SET a 8
0 EXEC
0 GET a
0 MULTI
0 GET
0 EXEC
0 MULTI
0 EXEC x
0 EXEC
0 EXEC x
0 MULTI x
0 MULTI
0 DISCARD x
0 DISCARD
0 MULTI
0 DISCARD x
0 EXEC
0 MULTI
0 SHUTDOWN
0 EXEC
0 MULTI
0 CLIENT NOSUCH
0 EXEC
0 MULTI
0 CONFIG
0 EXEC
0 MULTI
0 SET a x EX nonsense
0 INCR nonumber b
0 EXEC
0 MULTI
0 SET a x EX nonsense
0 GET a
0 EXEC
0 GET a
# watched keys that others write
0 SET w 1
0 WATCH w
1 SET w 2
0 MULTI
0 GET w
0 EXEC
0 MULTI
0 GET w
0 EXEC
0 WATCH w
1 SET other 2
0 MULTI
0 GET w
0 EXEC
0 WATCH nokey
1 SET nokey 1
0 MULTI
0 EXEC
0 WATCH nokey
0 MULTI
0 EXEC
0 WATCH w
0 SET w 3
0 MULTI
0 PING
0 EXEC
0 WATCH w
1 DEL w
1 SET w 3
0 MULTI
0 PING
0 EXEC
0 WATCH w
1 SET w 4
0 UNWATCH
0 MULTI
0 GET w
0 EXEC
0 WATCH w
1 SET w 4
0 MULTI
0 DISCARD
0 MULTI
0 GET w
0 EXEC
0 WATCH w
1 RENAME other w
0 MULTI
0 EXEC
1 HSET h f 1
0 WATCH h
1 HSET h f 2
0 MULTI
0 EXEC
0 WATCH h
1 HSET h f 2
0 MULTI
0 EXEC
0 WATCH h
1 HSET h n 0
1 HINCRBY h n 0
0 MULTI
0 EXEC
0 WATCH h
1 HINCRBY h n 0
0 MULTI
0 EXEC
1 RPUSH list a
0 WATCH list
1 LTRIM list 0 -1
0 MULTI
0 EXEC
1 DEL list
0 WATCH h
1 HGET h f
1 EXPIRE w 100
0 MULTI
0 EXEC
0 WATCH h
1 EXPIRE h 100
0 MULTI
0 EXEC
0 WATCH h
1 PERSIST h
0 MULTI
0 EXEC
0 WATCH h w nokey2
1 SETBIT nokey2 3 1
0 MULTI
0 HGETALL h
0 EXEC
0 WATCH h h
0 WATCH h
0 MULTI
0 HSET h f 9
0 EXEC
0 WATCH h
1 FLUSHALL
0 MULTI
0 EXEC
0 WATCH h
1 DEL h
0 MULTI
0 EXEC
1 RPUSH l a b c
0 WATCH l
1 LSET l 0 x
0 MULTI
0 LRANGE l 0 -1
0 EXEC
0 WATCH l
0 MULTI
0 RPUSH l z
0 LPOP l
0 LLEN l
0 LRANGE l 0 -1
0 EXEC
1 LRANGE l 0 -1
# a transaction sees what it does
0 MULTI
0 SET x 1
0 EXPIRE x 100
0 APPEND x 2
0 DEL y
0 COPY x y
0 MSET z 1 q 2
0 MGET x y z q
0 RENAME z zz
0 EXISTS z zz
0 TYPE zz
0 SADD s 1 2 3
0 SMOVE s s2 1
0 SCARD s
0 EXEC
# what is of the connection, and of all keys
0 MULTI
0 SELECT 0
0 CLIENT SETNAME me
0 SET x 9
0 CLIENT GETNAME
0 TIME extra
0 DBSIZE
0 SET fresh 1
0 DBSIZE
0 UNWATCH
0 GET x
0 WAIT 0 0
0 EXEC
0 CLIENT GETNAME
0 MULTI
0 SET before 1
0 FLUSHALL
0 SET after 1
0 KEYS *
0 EXEC
0 WATCH after
1 SET after 2
0 MULTI
0 FLUSHALL
0 EXEC
0 DBSIZE
0 MULTI
0 SELECT 1000
0 EXEC
0 WATCH after
0 MULTI
0 FLUSHALL
0 EXEC
0 DBSIZE
# What is emptied changes no key that was not there, unless somebody made it meanwhile.
0 DEL gone
0 WATCH gone
0 FLUSHALL
0 MULTI
0 PING
0 EXEC
0 WATCH gone
1 SET gone 1
1 FLUSHALL
0 MULTI
0 PING
0 EXEC
0 MULTI
0 SET k 1
0 RESET
0 EXEC
0 GET k
0 MULTI
0 COMMAND COUNT extra
0 EXEC
1 MULTI
1 HELLO 9
1 EXEC
`

func TestTransactionsAnswerAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	redis := redistest.Start7(t)
	for proto := 2; proto <= 3; proto++ {
		for _, where := range []string{"alone", "cluster"} {
			t.Run(fmt.Sprint(where, proto), func(t *testing.T) {
				var addrs []string
				if where == "alone" {
					_, addr := serveTest(t, nil)
					addrs = []string{addr, addr}
				} else { // all keys at one node, clients at others
					r := routedTest(t, 3)
					r.placeAll(oneOwner(t, "n2"))
					addrs = r.addrs[:2]
				}
				var ours, theirs []*resptest.Conn
				for _, addr := range addrs {
					ours = append(ours, resptest.Dial(t, addr, proto))
					theirs = append(theirs, resptest.Dial(t, redis, proto))
				}
				theirs[0].Do("FLUSHALL")
				for i, line := range strings.Split(transactionScript, "\n") {
					if line == "" || line[0] == '#' {
						continue
					}
					words, err := splitWords(line)
					if err != nil {
						t.Fatal(err)
					}
					who := int(words[0][0] - '0')
					want, got := theirs[who].Do(words[1:]...), ours[who].Do(words[1:]...)
					if got.String() != want.String() {
						t.Fatalf("line %d, %s:\n got %s\nwant %s", i, line, got, want)
					}
				}
			})
		}
	}
}

// Random commands of two connections, in and out of transactions, get the replies of Redis.
func TestRandomTransactionsAnswerAsRedis(t *testing.T) {
	randomtest.DrawShort(t, 4)
	redis := redistest.Start7(t)
	seed := randomtest.Seed(t)
	rounds := randomtest.Length(6, 2)
	for round := range rounds {
		rnd := rand.New(rand.NewPCG(seed, uint64(round)))
		_, addr := serveTest(t, nil)
		proto := 2 + round%2
		ours := []*resptest.Conn{resptest.Dial(t, addr, proto), resptest.Dial(t, addr, proto)}
		theirs := []*resptest.Conn{resptest.Dial(t, redis, proto), resptest.Dial(t, redis, proto)}
		theirs[0].Do("FLUSHALL")
		var sent []string
		for range 1500 {
			who := rnd.IntN(2)
			var pipeline [][]string
			for range 1 + rnd.IntN(1+rnd.IntN(12)) {
				pipeline = append(pipeline, randomInTransaction(rnd))
			}
			want, got := theirs[who].DoAll(all70(pipeline)), ours[who].DoAll(pipeline)
			for i := range pipeline {
				sent = append(sent, fmt.Sprint(who, " ", quote(pipeline[i])))
				if got[i].String() != want[i].String() {
					t.Fatalf("round %d:\n got %s\nwant %s\nafter\n%s", round, got[i], want[i],
						strings.Join(sent[max(0, len(sent)-40):], "\n"))
				}
			}
		}
	}
}

func randomInTransaction(rnd *rand.Rand) []string {
	key := func() string { return string(rune('a' + rnd.IntN(4))) }
	switch rnd.IntN(22) {
	case 0, 1, 2:
		return []string{"MULTI"}
	case 3, 4, 5:
		return []string{"EXEC"}
	case 6:
		return []string{[]string{"DISCARD", "UNWATCH", "nosuch", "GET", "DBSIZE", "PING"}[rnd.IntN(6)]}
	case 7, 8:
		return []string{"WATCH", key(), key()}[:2+rnd.IntN(2)]
	case 9:
		return []string{"SET", key(), fmt.Sprint(rnd.IntN(10))}
	case 10:
		return []string{"DEL", key()}
	case 11:
		return []string{"HSET", key(), "f", strings.Repeat("v", rnd.IntN(200))}
	case 12:
		return []string{"HGETALL", key()}
	case 13:
		return []string{"RPUSH", key(), "1", "2"}
	case 14:
		return []string{"LPOP", key()}
	case 15:
		return []string{"RENAME", key(), key()}
	case 16:
		return []string{"MGET", key(), key()}
	case 17:
		return []string{"INCR", key()}
	case 18:
		return []string{"EXISTS", key(), key(), key()}
	case 19:
		return []string{"SET", key(), fmt.Sprint(rnd.IntN(3)), "IFEQ", fmt.Sprint(rnd.IntN(3))}
	case 20:
		return []string{"DELEX", key(), "IFNE", fmt.Sprint(rnd.IntN(3))}
	}
	return []string{"GET", key()}
}
