package resp

import (
	_ "embed"
	"encoding/hex"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store/rdb"
)

// dumps are payloads of Redis 7.0.15, of each type and encoding: a name and hexadecimal digits a line.
//
//go:embed testdata/dumps.txt
var dumps string

// olderBodies are what payloads of earlier versions have before their footer.
var olderBodies = []string{
	"\x0A\x10\x10\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x03abc\xFF",                                        // list as ziplist
	"\x0C\x13\x13\x00\x00\x00\x0f\x00\x00\x00\x02\x00\x00\x03abc\x05\x01\x31\xFF",                            // sorted set as ziplist
	"\x0D\x13\x13\x00\x00\x00\x0f\x00\x00\x00\x02\x00\x00\x03abc\x05\x01\x31\xFF",                            // hash as ziplist
	"\x0E\x01\x10\x10\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x03abc\xFF",                                    // quicklist of ziplists
	"\x09\x0b\x01\x03abc\x02\x00de\xFF",                                                                      // zipmap
	"\x03\x02\x01a\x011\x01b\xfe",                                                                            // sorted set, scores as text
	"\x12\x01\x01\x00", "\x0E\x01\x13\x13\x00\x00\x00\x0E\x00\x00\x00\x02\x00\x00\x02a\x00\x0E\x02b\x00\xFF", // refused by Redis, too
}

// mutate flips, cuts, repeats and changes bytes of a payload's body. Half of the changes make a byte one that
// forms and lengths have.
func mutate(rnd *rand.Rand, body []byte) []byte {
	body = append([]byte(nil), body...)
	for range 1 + rnd.IntN(3)/2 {
		i := rnd.IntN(len(body))
		switch rnd.IntN(8) {
		case 0:
			body[i] ^= 1 << rnd.IntN(8)
		case 1:
			body[i] = byte(rnd.IntN(256))
		case 2:
			body = body[:i+1]
		case 3: // repeats a part
			j := i + rnd.IntN(len(body)-i)
			body = append(body[:j:j], body[i:]...)
		case 4: // leaves a part out
			j := i + rnd.IntN(min(len(body)-i, 8))
			if body = append(body[:i:i], body[j:]...); len(body) == 0 {
				body = []byte{0}
			}
		case 5: // a long length
			long := [][]byte{{0x80, 0x7f, 0xff, 0xff, 0xff}, {0x81, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}, {0x7f, 0xff}}[rnd.IntN(4)]
			body = append(body[:i:i], append(long, body[min(i+rnd.IntN(3), len(body)):]...)...)
		case 6:
			body[i] = []byte{0, 1, 0x3f, 0x40, 0x7f, 0x80, 0x81, 0xc0, 0xc1, 0xc2, 0xc3, 0xe0, 0xf0, 0xf1, 0xf4, 0xfe, 0xff}[rnd.IntN(17)]
		case 7: // another type
			body[0] = byte(rnd.IntN(32))
		}
	}
	return body
}

// TestMutatedPayloadsRestoreWholeOrNot sends RESTORE payloads of each type and encoding that were changed at random,
// with a right checksum. Each is refused or becomes a value that all commands of its type can read and that
// survives another DUMP; RESTORE allocates a bounded amount, whatever lengths a payload claims.
func TestMutatedPayloadsRestoreWholeOrNot(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	var bodies [][]byte
	for line := range strings.Lines(dumps) {
		name, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		payload, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		o.Want("+OK", "RESTORE", name, "0", string(payload), "REPLACE")
		bodies = append(bodies, payload[:len(payload)-10])
	}
	for _, body := range olderBodies {
		bodies = append(bodies, []byte(body))
	}
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 4))
	taken := map[string]int{}
	var before, after runtime.MemStats
	for i := range randomtest.Length(60_000, 1000) {
		body := mutate(rnd, bodies[rnd.IntN(len(bodies))])
		payload := string(rdb.SealAs(body, 0, 9+rnd.IntN(2)))
		runtime.ReadMemStats(&before)
		got := o.Do("RESTORE", "k", "0", payload, "REPLACE")
		runtime.ReadMemStats(&after)
		// A payload of LZF may become 260 times as large; lists and tables of its parts take some times that.
		if grown, most := after.TotalAlloc-before.TotalAlloc, uint64(4<<20+4096*len(payload)); grown > most {
			t.Errorf("step %d: RESTORE of %d bytes has allocated %d KiB: %x", i, len(payload), grown>>10, payload)
		}
		if got.Kind == '-' {
			taken["refused"]++
			if !strings.HasPrefix(got.Text, "ERR ") {
				t.Fatalf("step %d: %v: %x", i, got, payload)
			}
			continue
		}
		kind := o.Do("TYPE", "k").Text
		taken[kind]++
		if kind == "none" && body[0] >= 22 && body[0] <= 25 { // a hash of which all fields have expired
			o.Want(":0", "EXISTS", "k")
			continue
		}
		for _, read := range readingCommands[kind] {
			if got := o.Do(strings.Fields(read)...); got.Kind == '-' || strings.Contains(got.String(), "-ERR") {
				t.Fatalf("step %d: %s: %v: %x", i, read, got, payload)
			}
		}
		if n := o.Do("EXISTS", "k"); n.String() != ":1" || readingCommands[kind] == nil {
			t.Fatalf("step %d: a value of type %q: %x", i, kind, payload)
		}
		dump := o.Do("DUMP", "k").Text
		o.Want("+OK", "RESTORE", "again", "0", dump, "REPLACE")
		if size, again := o.Do(sizes[kind], "k").String(), o.Do(sizes[kind], "again").String(); size != again || size == ":0" && kind != "string" && kind != "stream" {
			t.Fatalf("step %d: %s of %s elements has %s after DUMP and RESTORE: %x", i, kind, size, again, payload)
		}
	}
	t.Log(taken)
}

// readingCommands read values of a type in all orders that it has.
var readingCommands = map[string][]string{
	"string": {"GET k", "GETRANGE k 1 -1", "STRLEN k", "BITCOUNT k"},
	"list":   {"LRANGE k 0 -1", "LINDEX k -1", "LPOS k a COUNT 0"},
	"set":    {"SMEMBERS k", "SSCAN k 0 COUNT 1000", "SRANDMEMBER k 3", "SISMEMBER k a"},
	"zset":   {"ZRANGE k 0 -1 WITHSCORES", "ZRANGE k +inf -inf BYSCORE REV", "ZSCAN k 0 COUNT 1000", "ZRANK k a", "ZCOUNT k -inf +inf"},
	"hash":   {"HGETALL k", "HSCAN k 0 COUNT 1000", "HRANDFIELD k 3 WITHVALUES", "HGET k f"},
	"stream": {"XRANGE k - +", "XREVRANGE k + -", "XINFO STREAM k FULL COUNT 0", "XINFO GROUPS k", "XREAD STREAMS k 0"},
}

// sizes are the commands that count the elements of a type.
var sizes = map[string]string{"string": "STRLEN", "list": "LLEN", "set": "SCARD", "zset": "ZCARD", "hash": "HLEN", "stream": "XLEN"}
