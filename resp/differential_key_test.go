package resp

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// keyPair is a connection to a real Redis and one to Ringside, in the same
// protocol version, which are sent the same commands.
type keyPair struct {
	t           *testing.T
	redis, ours *resptest.Conn
}

func newKeyPair(t *testing.T, redis, ours string, proto int) *keyPair {
	p := &keyPair{t: t, redis: resptest.Dial(t, redis, proto), ours: resptest.Dial(t, ours, proto)}
	p.redis.Do("FLUSHALL")
	p.ours.Do("FLUSHALL")
	return p
}

// run sends one line to both. What precedes the command says how replies compare:
// nothing for exactly, "~" for numbers that are about the same, "?" for the kind
// alone.
func (p *keyPair) run(line string) {
	p.t.Helper()
	how := byte('=')
	if line[0] == '~' || line[0] == '?' {
		how, line = line[0], line[1:]
	}
	p.compare(how, keyWords(p.t, line))
}

func (p *keyPair) compare(how byte, words []string) {
	p.t.Helper()
	want, got := p.redis.Do(words...), p.ours.Do(words...)
	same := want.String() == got.String()
	switch how {
	case '~':
		a, errA := strconv.ParseInt(want.Text, 10, 64)
		b, errB := strconv.ParseInt(got.Text, 10, 64)
		same = same || want.Kind == ':' && got.Kind == ':' && errA == nil && errB == nil &&
			(a < 0) == (b < 0) && max(a, b)-min(a, b) <= 1500
	case '?':
		same = want.Kind == got.Kind
	}
	if !same {
		p.t.Errorf("%.200q: Redis replies %.300s, Ringside %.300s", words, want, got)
	}
}

// keyWords splits a line at spaces; a word may be quoted as in Go.
func keyWords(t *testing.T, line string) (words []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] != '"' {
			word, rest, _ := strings.Cut(line, " ")
			words, line = append(words, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		word, _ := strconv.Unquote(quoted)
		words, line = append(words, word), line[len(quoted):]
	}
	return words
}

// eachKeyProto runs f with pairs of both protocol versions.
func eachKeyProto(t *testing.T, f func(t *testing.T, p *keyPair)) {
	redis := redistest.Start7(t)
	_, ours := serveTest(t, nil)
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", proto), func(t *testing.T) { f(t, newKeyPair(t, redis, ours, proto)) })
	}
}

// keyScripts are run one after the other on empty stores, line by line.
var keyScripts = map[string]string{
	"del exists touch unlink": `
		DEL
		EXISTS
		TOUCH
		UNLINK
		DEL a
		MSET a 1 b 2 c 3
		EXISTS a
		EXISTS a a b nosuch
		TOUCH a a b nosuch
		DEL a a nosuch
		EXISTS a
		UNLINK b b c
		DBSIZE
		SET "" empty
		EXISTS ""
		DEL ""
		SET "sp ace\x00\r\n" v
		EXISTS "sp ace\x00\r\n"
		UNLINK "sp ace\x00\r\n"`,
	"type": `
		TYPE
		TYPE a b
		TYPE a
		SET a 1
		TYPE a
		PEXPIREAT a 1
		TYPE a`,
	"rename": `
		RENAME
		RENAME a
		RENAME a b c
		RENAMENX a
		RENAME a b
		RENAMENX a b
		RENAME a a
		RENAMENX a a
		SET a 1
		RENAME a a
		RENAMENX a a
		GET a
		RENAME a b
		EXISTS a
		GET b
		SET a 2 EX 100
		RENAMENX a b
		GET b
		~TTL a
		RENAME a b
		GET b
		~TTL b
		SET c 3
		RENAME c b
		TTL b
		SET c 3 EX 100
		RENAMENX c d
		~TTL d
		DBSIZE`,
	"copy": `
		COPY
		COPY a
		COPY a b c
		COPY a b DB
		COPY a b DB x
		COPY a b DB 99999999999999999999
		COPY a b DB 2147483648
		COPY a b DB -2147483649
		COPY a b DB -1
		COPY a b DB 16
		COPY a b DB 1 REPLACE foo
		COPY a b DB 1 DB x
		COPY a b DB 1 DB
		COPY a b DB 16 foo
		COPY a b REPLACE DB
		COPY a b REPLACE nonsense
		COPY a b
		COPY a a
		COPY a a DB 0
		COPY a a REPLACE
		SET a 1 EX 100
		COPY a a
		COPY a b
		GET b
		~TTL b
		SET a 2
		COPY a b
		GET b
		COPY a b REPLACE
		GET b
		TTL b
		COPY a b rePLace db 0 REPLACE
		COPY a c DB 0
		GET c
		COPY nosuch c REPLACE
		GET c
		DBSIZE`,
	"expire": `
		EXPIRE
		EXPIRE a
		PEXPIRE a
		EXPIREAT a
		PEXPIREAT a
		EXPIRE a x
		EXPIRE a 1.5
		EXPIRE a " 1"
		EXPIRE a +1
		EXPIRE a 01
		EXPIRE a ""
		EXPIRE a 10
		EXPIRE a 9223372036854775807
		EXPIRE a 9223372036854775
		EXPIRE a 9223372036854776
		EXPIRE a -9223372036854775808
		EXPIRE a -9223372036854775
		EXPIRE a -9223372036854776
		EXPIRE a 99999999999999999999
		PEXPIRE a 9223372036854775807
		PEXPIRE a -9223372036854775808
		EXPIREAT a 9223372036854775807
		EXPIREAT a 9223372036854775
		EXPIREAT a 9223372036854776
		PEXPIREAT a 9223372036854775807
		EXPIRE a 10 nonsense
		EXPIRE a 10 NX nonsense
		EXPIRE a 10 "non\x00sense"
		EXPIRE a 10 "non\r\nsense"
		EXPIRE a 10 "nonsense\r\n\n"
		EXPIRE a 10 "\r\nnonsense"
		EXPIRE a 10 "\r\n"
		EXPIRE a 10 NX XX
		EXPIRE a 10 NX GT
		EXPIRE a 10 NX LT
		EXPIRE a 10 GT LT
		EXPIRE a 10 XX GT LT
		EXPIRE a 10 NX GT LT
		EXPIRE a x NX XX
		EXPIRE a x nonsense
		PEXPIRE a 10 NX XX
		EXPIREAT a 10 GT LT
		PEXPIREAT a 10 nonsense
		SET a 1
		EXPIRE a 100
		~TTL a
		~PTTL a
		~EXPIRETIME a
		~PEXPIRETIME a
		EXPIRE a 100 NX
		EXPIRE a 200 nx nx
		~TTL a
		EXPIRE a 200 XX
		~TTL a
		EXPIRE a 100 GT
		~TTL a
		EXPIRE a 300 GT
		~TTL a
		EXPIRE a 400 LT
		~TTL a
		EXPIRE a 50 LT
		~TTL a
		EXPIRE a 60 XX GT
		EXPIRE a 50 XX LT
		~TTL a
		PERSIST a
		PERSIST a
		TTL a
		EXPIRE a 100 XX
		TTL a
		EXPIRE a 100 GT
		TTL a
		EXPIRE a 100 XX GT
		EXPIRE a 100 XX LT
		TTL a
		EXPIRE a 100 LT
		~TTL a
		PERSIST a
		EXPIRE a 100 NX
		~TTL a
		PEXPIRE a 100000
		~PTTL a
		EXPIREAT a 4000000000
		EXPIRETIME a
		PEXPIRETIME a
		PEXPIREAT a 4000000000499
		EXPIRETIME a
		PEXPIRETIME a
		PEXPIREAT a 4000000000500
		EXPIRETIME a
		EXPIRE a 9223372036854775
		EXPIREAT a 9223372036854775
		EXPIRETIME a
		PEXPIRETIME a
		PEXPIREAT a 9223372036854775307
		EXPIRETIME a
		GET a`,
	"expired at once": `
		SET a 1
		EXPIRE a 0
		EXISTS a
		SET a 1
		EXPIRE a -1
		GET a
		SET a 1
		EXPIRE a -9223372036854775
		GET a
		SET a 1
		PEXPIRE a -9223372036854775808
		GET a
		SET a 1
		EXPIREAT a 1
		GET a
		SET a 1
		PEXPIREAT a 0
		GET a
		SET a 1
		PEXPIREAT a -5
		GET a
		SET a 1
		EXPIRE a -1 GT
		EXPIRE a -1 XX
		GET a
		EXPIRE a -1 LT
		GET a
		SET a 1 EX 100
		EXPIRE a -1 NX
		EXPIRE a -1 GT
		EXPIRE a -1 LT
		TTL a
		DBSIZE
		EXPIRE a 100
		PERSIST a
		PERSIST
		PERSIST a b`,
	"time left": `
		TTL
		TTL a b
		PTTL
		EXPIRETIME
		PEXPIRETIME
		TTL a
		PTTL a
		EXPIRETIME a
		PEXPIRETIME a
		SET a 1
		TTL a
		PTTL a
		EXPIRETIME a
		PEXPIRETIME a
		SET a 1 PX 100400
		~TTL a
		~PTTL a
		SET a 1 PXAT 4102444800123
		EXPIRETIME a
		PEXPIRETIME a`,
	"object": `
		OBJECT
		OBJECT nonsense
		OBJECT ENCODING
		OBJECT ENCODING a b
		OBJECT FREQ
		OBJECT IDLETIME
		OBJECT REFCOUNT
		OBJECT ENCODING a
		OBJECT FREQ a
		OBJECT IDLETIME a
		OBJECT REFCOUNT a
		SET a 12345
		OBJECT ENCODING a
		OBJECT REFCOUNT a
		OBJECT FREQ a
		OBJECT IDLETIME a
		SET a 0
		OBJECT REFCOUNT a
		SET a 9999
		OBJECT REFCOUNT a
		SET a 10000
		OBJECT REFCOUNT a
		SET a -1
		OBJECT REFCOUNT a
		SET a -0
		OBJECT ENCODING a
		SET a 007
		OBJECT ENCODING a
		OBJECT REFCOUNT a
		SET a 9223372036854775807
		OBJECT ENCODING a
		SET a 9223372036854775808
		OBJECT ENCODING a
		SET a -9223372036854775808
		OBJECT ENCODING a
		SET a ""
		OBJECT ENCODING a
		SET a 01234567890123456789012345678901234567890123
		OBJECT ENCODING a
		SET a 012345678901234567890123456789012345678901234
		OBJECT ENCODING a
		RENAME a b
		OBJECT ENCODING b
		SET a x
		COPY a b REPLACE
		OBJECT ENCODING b
		OBJECT REFCOUNT b
		INCR n
		OBJECT ENCODING n
		OBJECT REFCOUNT n`,
	"memory": `
		MEMORY USAGE
		MEMORY nonsense
		MEMORY USAGE a
		SET a 1 EX 100
		?MEMORY USAGE a
		?MEMORY USAGE a SAMPLES 0
		?MEMORY USAGE a SAMPLES 5 samples 7
		?MEMORY USAGE a SAMPLES 9223372036854775807
		MEMORY USAGE a SAMPLES
		MEMORY USAGE a SAMPLES x
		MEMORY USAGE a SAMPLES -1
		MEMORY USAGE a SAMPLES 5 SAMPLES
		MEMORY USAGE a nonsense 5
		MEMORY USAGE nosuch SAMPLES -1
		MEMORY USAGE nosuch SAMPLES 1`,
	"keys and scan": `
		KEYS
		KEYS a b
		KEYS *
		SCAN
		SCAN x
		SCAN "0 "
		SCAN 0x10
		SCAN 1.5
		SCAN +
		SCAN -
		SCAN -0
		SCAN 18446744073709551615
		SCAN -18446744073709551615
		SCAN -18446744073709551616
		SCAN --1
		SCAN -+1
		SCAN 18446744073709551616
		SCAN 99999999999999999999999
		SCAN x nonsense
		SCAN 0 nonsense
		SCAN 0 nonsense 1
		SCAN 0 COUNT
		SCAN 0 MATCH
		SCAN 0 TYPE
		SCAN 0 COUNT x
		SCAN 0 COUNT 0
		SCAN 0 COUNT -1
		SCAN 0 COUNT 9223372036854775808
		SCAN 0 COUNT 0 nonsense
		SCAN 0
		SCAN +0
		SCAN 000
		SET a 1
		KEYS *
		KEYS a
		KEYS ?
		KEYS [^a]
		KEYS ""
		SCAN 0
		SCAN 0 COUNT 1000000
		SCAN 0 COUNT 9223372036854775807 MATCH a TYPE string
		SCAN 0 COUNT 5 COUNT 10
		SCAN 0 MATCH b MATCH a
		SCAN 0 MATCH b
		SCAN 0 MATCH ""
		SCAN 0 match * type STRING
		SCAN 0 TYPE hash
		SCAN 0 TYPE nonsense
		SCAN 0 TYPE ""
		DEL a
		SET "" 1
		KEYS *
		KEYS ""
		KEYS ?
		SCAN 0 MATCH *
		SCAN 0 MATCH ""
		SCAN 0 MATCH ?`,
	"randomkey dbsize flush": `
		RANDOMKEY
		RANDOMKEY x
		DBSIZE
		DBSIZE x
		SET a 1
		RANDOMKEY
		DBSIZE
		FLUSHALL nonsense
		FLUSHALL ASYNC SYNC
		FLUSHDB nonsense
		FLUSHDB SYNC x
		DBSIZE
		FLUSHDB
		DBSIZE
		GET a
		SET a 1
		FLUSHALL async
		EXISTS a
		SET a 1 EX 100
		FLUSHALL SYNC
		TTL a
		SET a 1
		TTL a
		FLUSHDB ASYNC
		SET a 1
		FLUSHDB sync
		SET "" x
		RANDOMKEY
		DEL ""
		RANDOMKEY`,
	"wait": `
		WAIT
		WAIT 0
		WAIT 0 0 0
		WAIT x 0
		WAIT 0 x
		WAIT x x
		WAIT 0 -1
		WAIT 1 -1
		WAIT 0 1.5
		WAIT 0 0
		WAIT -1 0
		WAIT -9223372036854775808 100000
		WAIT 1 20
		SET a 1
		WAIT 9223372036854775807 20`,
	"restore": `
		DUMP
		DUMP a b
		DUMP a
		RESTORE
		RESTORE a
		RESTORE a 0
		RESTORE a 0 x
		RESTORE a 0 ""
		RESTORE a x x
		RESTORE a -1 x
		RESTORE a 0 x nonsense
		RESTORE a 0 x REPLACE nonsense
		RESTORE a 0 x IDLETIME
		RESTORE a 0 x IDLETIME x
		RESTORE a 0 x IDLETIME -1
		RESTORE a 0 x FREQ
		RESTORE a 0 x FREQ x
		RESTORE a 0 x FREQ -1
		RESTORE a 0 x FREQ 256
		RESTORE a 0 x FREQ 1 IDLETIME 1
		RESTORE a 0 x IDLETIME 1 FREQ 1
		RESTORE a 0 x IDLETIME 1 IDLETIME -1
		RESTORE a 0 x FREQ 1 FREQ 256
		RESTORE a -1 x FREQ 256
		RESTORE a 0 "\x00\x03xyz\x0a\x00\x01\x02\x03\x04\x05\x06\x07\x08"
		RESTORE a 0 "\x00\x01a\n\x00\x99\xb3'\xf8H3u."
		SET a 1
		RESTORE a x x
		RESTORE a -1 x
		RESTORE a x x REPLACE
		RESTORE a -1 x REPLACE
		RESTORE a 0 x REPLACE
		GET a`,
}

func TestKeyScriptsLikeRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	eachKeyProto(t, func(t *testing.T, p *keyPair) {
		for name, script := range keyScripts {
			t.Run(name, func(t *testing.T) {
				p.t = t
				p.redis.Do("FLUSHALL")
				p.ours.Do("FLUSHALL")
				for line := range strings.Lines(script) {
					if line = strings.TrimSpace(line); line != "" {
						p.run(line)
					}
				}
			})
		}
	})
}

// TestRandomKeyCommandsLikeRedis runs random commands on few keys. Expiries are
// far off or past, so that no key vanishes at one server before the other.
func TestRandomKeyCommandsLikeRedis(t *testing.T) {
	randomtest.Draw(t, 3)
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	seed := randomtest.Seed(t)
	eachKeyProto(t, func(t *testing.T, p *keyPair) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		g := keyGenerator{rnd}
		for i := range 6000 {
			how, words := g.command()
			p.compare(how, words)
			if i%100 == 0 {
				p.compareAll()
			}
			if t.Failed() {
				return
			}
		}
	})
}

// compareAll compares the two stores as a whole.
func (p *keyPair) compareAll() {
	p.t.Helper()
	p.run("DBSIZE")
	for i := range keyNames {
		key := keyName(i)
		p.compare('=', []string{"GET", key})
		p.compare('=', []string{"DUMP", key})
		p.compare('=', []string{"OBJECT", "ENCODING", key})
		p.compare('~', []string{"PTTL", key})
	}
}

const keyNames = 12

func keyName(i int) string { return fmt.Sprintf("{k%d}:%d", i%3, i) }

type keyGenerator struct{ *rand.Rand }

func (g keyGenerator) key() string { return keyName(g.IntN(keyNames)) }

func (g keyGenerator) keys() (keys []string) {
	for range 1 + g.IntN(4) {
		keys = append(keys, g.key())
	}
	return keys
}

func (g keyGenerator) pick(words ...string) string { return words[g.IntN(len(words))] }

// seconds is a time from now that no clock comes near during a test, or is past. No
// two are close to each other: with GT and LT the two servers, which read their
// clocks a moment apart, could else differ.
func (g keyGenerator) seconds() int64 {
	if g.IntN(6) == 0 {
		return -g.Int64N(1000)
	}
	return 10_000 + 100*g.Int64N(10_000_000)
}

func (g keyGenerator) value() string {
	switch g.IntN(6) {
	case 0:
		return strconv.Itoa(g.IntN(20_000) - 5000)
	case 1:
		return strconv.FormatInt(int64(g.Uint64()), 10)
	case 2:
		return strings.Repeat("long ", 1+g.IntN(40_000))
	case 3:
		return strings.Repeat("x", 40+g.IntN(10))
	}
	return fmt.Sprint("value ", g.IntN(100))
}

// some returns extra words, most often none.
func (g keyGenerator) some(words ...string) (out []string) {
	for g.IntN(3) == 0 {
		out = append(out, g.pick(words...))
	}
	return out
}

func (g keyGenerator) command() (how byte, words []string) {
	now := time.Now()
	conditions := []string{"NX", "XX", "GT", "LT", "nx", "lt", "bad"}
	switch g.IntN(17) {
	case 0, 1:
		return '=', []string{"SET", g.key(), g.value()}
	case 2:
		return '=', []string{"SET", g.key(), g.value(), "EX", strconv.FormatInt(10_000*(1+g.Int64N(5)), 10)}
	case 3:
		return '=', append([]string{g.pick("DEL", "UNLINK")}, g.keys()...)
	case 4:
		return '=', append([]string{g.pick("EXISTS", "TOUCH")}, g.keys()...)
	case 5:
		return '=', append([]string{"EXPIRE", g.key(), strconv.FormatInt(g.seconds(), 10)}, g.some(conditions...)...)
	case 6:
		return '=', append([]string{"PEXPIRE", g.key(), strconv.FormatInt(1000*g.seconds(), 10)}, g.some(conditions...)...)
	case 7:
		return '=', append([]string{"EXPIREAT", g.key(), strconv.FormatInt(now.Unix()+g.seconds(), 10)}, g.some(conditions...)...)
	case 8:
		return '=', append([]string{"PEXPIREAT", g.key(), strconv.FormatInt(now.UnixMilli()+1000*g.seconds(), 10)}, g.some(conditions...)...)
	case 9:
		return '=', []string{"PERSIST", g.key()}
	case 10:
		return '~', []string{g.pick("TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"), g.key()}
	case 11:
		return '=', []string{g.pick("RENAME", "RENAMENX"), g.key(), g.key()}
	case 12:
		return '=', append([]string{"COPY", g.key(), g.key()}, g.some("REPLACE", "replace", "bad")...)
	case 13:
		return '=', []string{g.pick("DUMP", "TYPE", "GET"), g.key()}
	case 14:
		return '=', []string{"OBJECT", g.pick("ENCODING", "FREQ"), g.key()}
	case 15:
		return '~', []string{"OBJECT", "IDLETIME", g.key()}
	}
	return '=', []string{"INCR", g.key()}
}
