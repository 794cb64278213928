package resp

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

func TestStringCommandsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
# GET, SET and their options
GET none
SET k v
GET k
SET k
SET k v NX
SET k v XX
SET k v nx xx
SET k v xx nx
SET new v XX
GET new
SET new v NX
SET new w NX GET
GET new
SET newer w NX GET
GET newer
SET newest w XX GET
GET newest
SET k w GET
SET k w get Get
SET k w EX
SET k w PX
SET k w EX abc
SET k w EX 0
SET k w EX -1
SET k w PX 0
SET k w EXAT 0
SET k w PXAT -1
SET k w EX 9223372036854775807
SET k w EX 9223372036854775
SET k w EX 9223372036854776
SET k w PX 9223372036854775807
SET k w PXAT 9223372036854775807
SET k w EXAT 9223372036854775807
SET k w EXAT 9223372036854775
SET k w EX 10 PX 10
SET k w EX 10 EX 20
SET k w PX 10000 PX 20000
SET k w EX 0 bogus
SET k w EX 10 KEEPTTL
SET k w KEEPTTL EX 10
SET k w KEEPTTL KEEPTTL
SET k w PERSIST
SET k w EX 10 NX
SET k w EX 10 XX GET
SET k w bogus
SET k w EX 1.5
SET k w EX " 10"
SET k w EX 010
SET k past PXAT 1
GET k
SET k past EXAT 1 GET
GET k
SET "" empty
GET ""
SET k ""
GET k
STRLEN k
SET k "a\r\nb\x00"
GET k
# SETEX and friends
SETEX k 10 v
SETEX k 0 v
SETEX k -1 v
SETEX k abc v
SETEX k 9223372036854775807 v
PSETEX k 10000 v
PSETEX k 0 v
PSETEX k x v
PSETEX k 9223372036854775807 v
PSETEX k 9223372036854775 v
SETEX k 10
GET k
SETNX k 1
SETNX n 1
GET n
GETSET n 2
GETSET none 2
GET none
GETDEL none
GETDEL none
GETDEL
# GETEX
GETEX missing EX 0
GETEX missing EX abc
GETEX missing bogus
GETEX n
GETEX n PERSIST
GETEX n EX 100
GETEX n PX 100000
GETEX n EX 100 PERSIST
GETEX n PERSIST EX 100
GETEX n PERSIST PERSIST
GETEX n EX 100 EX 200
GETEX n EX 100 PX 1
GETEX n EX
GETEX n EX 0
GETEX n EX -1
GETEX n PX abc
GETEX n EXAT 0
GETEX n PXAT 9223372036854775807
GETEX n EX 9223372036854775807
GETEX n KEEPTTL
GETEX n NX
GETEX n GET
GETEX n EXAT 1
GET n
SET n 1
GETEX n PXAT 1
GETEX n
# several
MSET a 1 b 2 c 3
MGET a b none c a
MSET a 1 b
MSET a
MSETNX a 1 z 2
MGET a z
MSETNX y 1 z 2 y 3
MGET y z
MSETNX y
MSETNX y 1 z
MSET a 1 a 2 b x a 3
MGET a b
STRLEN a
STRLEN none
`)
	})
}

func TestCountersAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
INCR n
DECR n
DECR n
INCRBY n 41
DECRBY n 1
INCRBY n abc
INCRBY n 9223372036854775807
INCRBY n 9223372036854775808
DECRBY n -9223372036854775808
DECRBY n 9223372036854775807
INCRBY n -9223372036854775808
SET n 9223372036854775807
INCR n
DECR n
SET n -9223372036854775808
DECR n
INCRBY n -9223372036854775808
INCRBY n 9223372036854775807
SET n " 1"
INCR n
SET n 01
INCR n
SET n -0
INCR n
SET n ""
INCR n
SET n 1.0
INCR n
INCRBYFLOAT n 0.5
INCRBYFLOAT n -1e-1
INCRBYFLOAT n abc
INCRBYFLOAT n nan
INCRBYFLOAT n inf
INCRBYFLOAT n 1e400
INCRBYFLOAT n ""
INCRBYFLOAT n " 1"
SET n abc
INCRBYFLOAT n 1
SET n 3.0e3
INCRBYFLOAT n 200
INCRBYFLOAT f 0.1
INCRBYFLOAT f 0.2
INCRBYFLOAT f 1.23456789012345678
INCRBYFLOAT f -1.5e10
INCRBYFLOAT g 0x10
INCRBYFLOAT g
DECRBY
`)
	})
}

func TestPartsOfStringsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
APPEND k hello
APPEND k ""
APPEND k " world"
GET k
APPEND e ""
GET e
STRLEN e
SETRANGE k 6 Redis
GET k
SETRANGE k 0 ""
SETRANGE none 0 ""
GET none
SETRANGE none 5 x
GET none
SETRANGE k -1 x
SETRANGE k abc x
SETRANGE k -1 ""
SETRANGE k 536870911 ""
SETRANGE k 536870911 xy
SETRANGE new 536870912 x
SETRANGE k 9223372036854775807 x
SETRANGE k 9223372036854775808 x
SETRANGE num 3 x
SET num 12345
SETRANGE num 2 99
GET num
INCR num
APPEND num 6
INCR num
GETRANGE k 0 -1
GETRANGE k 0 3
GETRANGE k -3 -1
GETRANGE k -1 -3
GETRANGE k 3 1
GETRANGE k 0 -100
GETRANGE k -100 0
GETRANGE k 100 200
GETRANGE k 0 9223372036854775807
GETRANGE k -9223372036854775808 9223372036854775807
GETRANGE k a 1
GETRANGE k 1 a
GETRANGE none 0 -1
GETRANGE none a 1
GETRANGE e 0 -1
GETRANGE e 0 0
SUBSTR k 0 3
SUBSTR k 0
SUBSTR k -2 -1
GETRANGE num 1 2
`)
	})
}

func TestLCSAnswersAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
MSET a ohmytext b mynewtext
LCS a b
LCS a b LEN
LCS a b IDX
LCS a b IDX MINMATCHLEN 4
LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN
LCS a b IDX MINMATCHLEN -4 WITHMATCHLEN
LCS a b IDX MINMATCHLEN 400
LCS a b WITHMATCHLEN
LCS a b MINMATCHLEN 4
LCS a b LEN IDX
LCS a b idx len
LCS a b MINMATCHLEN
LCS a b MINMATCHLEN x
LCS a b bogus
LCS a
LCS a none
LCS none none IDX
LCS none none LEN
LCS a a IDX WITHMATCHLEN
LCS none none bogus
SET n 12345
SET m 2345
LCS n m IDX
SETRANGE big 600000 x
LCS big big
LCS big big LEN
LCS big a bogus
`)
	})
}

// What clears an expiry, and what keeps it, shows in the time to live.
func TestExpiryIsKeptOrCleared(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	changes := []string{
		"APPEND k 1", "INCR k", "DECRBY k 2", "INCRBYFLOAT k 2.5", "SETRANGE k 1 1", "SETBIT k 1 1",
		"BITFIELD k SET u8 0 1", "BITFIELD k GET u8 0", "GETEX k", "SET k 1 KEEPTTL", "SET k 1 XX KEEPTTL GET",
		"SET k 1 NX", "SET k 1", "SET k 1 GET", "GETSET k 1", "MSET k 1", "SETNX k 1", "GETEX k PERSIST",
		"BITOP AND k k", "MSETNX k 1", "GETDEL k", "SET k 1 EX 1000", "GETEX k EX 1000",
	}
	differential(t, func(d *differ) {
		for i, change := range changes {
			key := fmt.Sprint("key", i)
			d.do("SET", key, "12", "EX", "100000")
			d.run(strings.ReplaceAll(change, " k", " "+key))
			d.do("GET", key)
			var left [2]int // hours, or what says that there is no expiry, or no key
			for j, o := range []*resptest.Conn{d.redis, d.ours} {
				n, err := strconv.Atoi(o.Do("TTL", key).Text)
				if err != nil {
					d.t.Fatal(err)
				}
				if left[j] = n; n > 0 {
					left[j] = (n + 1800) / 3600
				}
			}
			if left[0] != left[1] {
				d.t.Errorf("%s: expires in %d h, in Redis in %d h", change, left[1], left[0])
			}
		}
		// One whose time comes.
		d.do("SET", "short", "12", "PX", "1")
		for _, o := range []*resptest.Conn{d.redis, d.ours} {
			resptest.WaitFor(d.t, "the key expires", func() bool { return o.Do("EXISTS", "short").Text == "0" })
		}
		d.do("GET", "short")
	})
}
