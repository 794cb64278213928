package resp

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// What commands on fields that expire reply, written from Redis' documentation of 7.4 and 8.0, and
// which events tell of them: in a small hash and in a large one.
func TestFieldsExpire(t *testing.T) {
	for _, more := range []int{0, 200} {
		t.Run(strconv.Itoa(more), func(t *testing.T) {
			fakenet.Bubble(t, func(t *testing.T) {
				_, dial := serveBubble(t, func(*Config) {})
				c := dial()
				in := resptest.NewReader(c)
				do := func(line string) string {
					t.Helper()
					resptest.Write(c, strings.Fields(line)...)
					v, err := in.Read()
					if err != nil {
						t.Fatal(line, err)
					}
					return v.String()
				}
				listener := dial()
				told := resptest.NewReader(listener)
				do("CONFIG SET notify-keyspace-events Khg")
				resptest.Write(listener, "SUBSCRIBE", "__keyspace@0__:h")
				if _, err := told.Read(); err != nil {
					t.Fatal(err)
				}
				for i := range more {
					do(fmt.Sprintf("HSET h more%d 12345678", i))
				}
				at := time.Now().Add(time.Hour)
				for _, step := range []struct{ line, want string }{
					{"HSET h a 1 b 2 c 3 d 4", ":4"},
					{"HEXPIRE h 10 FIELDS 2 a none", "*(:1 :-2)"},
					{"HEXPIRE none 10 FIELDS 2 a b", "*(:-2 :-2)"},
					{"HTTL h FIELDS 3 a b none", "*(:10 :-1 :-2)"},
					{"HPEXPIRE h 20000 NX FIELDS 2 a b", "*(:0 :1)"},
					{"HPEXPIRE h 25000 GT FIELDS 3 a b c", "*(:1 :1 :0)"},
					{"HPEXPIRE h 24000 LT FIELDS 3 a b c", "*(:1 :1 :1)"},
					{"HPEXPIRE h 24000 XX FIELDS 2 a d", "*(:1 :0)"},
					{"HEXPIREAT h " + strconv.FormatInt(at.Unix(), 10) + " FIELDS 1 c", "*(:1)"},
					{"HEXPIRETIME h FIELDS 1 c", "*(:" + strconv.FormatInt(at.Unix(), 10) + ")"},
					{"HPEXPIRETIME h FIELDS 1 d", "*(:-1)"},
					{"HPERSIST h FIELDS 3 c d none", "*(:1 :-1 :-2)"},
					{"HINCRBY h a 5", ":6"},
					{"HTTL h FIELDS 1 a", "*(:24)"},
					{"HSET h b 3", ":0"},
					{"HTTL h FIELDS 1 b", "*(:-1)"},
					{"HEXPIRE h 0 FIELDS 1 d", "*(:2)"},
					{"HGET h d", "_$"},
					{"HGETEX h EX 5 FIELDS 2 b none", "*($3 _$)"},
					{"HTTL h FIELDS 1 b", "*(:5)"},
					{"HGETEX h PERSIST FIELDS 1 b", "*($3)"},
					{"HTTL h FIELDS 1 b", "*(:-1)"},
					{"HSETEX h FNX EX 5 FIELDS 1 b 9", ":0"},
					{"HSETEX h FXX EX 5 FIELDS 1 e 9", ":0"},
					{"HSETEX h EX 5 FIELDS 2 b 9 e 9", ":1"},
					{"HSETEX h KEEPTTL FIELDS 1 e 10", ":1"},
					{"HTTL h FIELDS 2 b e", "*(:5 :5)"},
					{"HSETEX h FIELDS 1 b 9", ":1"},
					{"HTTL h FIELDS 1 b", "*(:-1)"},
					{"HGETDEL h FIELDS 3 b b none", "*($9 _$ _$)"},
					{"HSCAN h 0 MATCH ? NOVALUES COUNT 1000", "*($0 *($a $c $e))"},
					{"COPY h copy", ":1"},
					{"RENAME copy other", "+OK"},
					{"HTTL other FIELDS 3 a c e", "*(:24 :-1 :5)"},
					{"DEL other", ":1"},
					// The first moment of 1970 is in the past, too.
					{"HSET h x 1 y 2", ":2"},
					{"HEXPIREAT h 0 FIELDS 2 x none", "*(:2 :-2)"},
					{"HPEXPIREAT h 0 FIELDS 1 y", "*(:2)"},
					{"HMGET h x y", "*(_$ _$)"},
					// A field with a time in the past is set and deleted.
					{"HSETEX h EXAT 0 FIELDS 1 x 1", ":1"},
					{"HSETEX h FXX EXAT 1 FIELDS 1 a 1", ":1"},
					{"HMGET h a x", "*(_$ _$)"},
					{"HSETEX h EX 24 FIELDS 1 a 1", ":1"},
				} {
					got := do(step.line)
					if strings.HasPrefix(step.line, "HSCAN") {
						got = strings.NewReplacer("$c $a $e", "$a $c $e", "$c $e $a", "$a $c $e").Replace(got)
					}
					if got != step.want {
						t.Fatalf("%s: %s, want %s", step.line, got, step.want)
					}
				}
				time.Sleep(5 * time.Second)
				if got := do("HMGET h a c e"); got != "*($1 $3 _$)" {
					t.Fatal(got)
				}
				time.Sleep(20 * time.Second)
				if got, want := do("HLEN h"), fmt.Sprint(":", 1+more); got != want {
					t.Fatalf("%s fields are left, want %s", got, want)
				}
				do("DEL h")
				do("HSETEX h PXAT 1 FIELDS 1 a 1")
				do("HSET h a 1")
				do("HPEXPIREAT h 0 FIELDS 1 a")
				do("HSETEX h PX 50 FIELDS 2 a 1 b 2")
				time.Sleep(time.Second)
				if got := do("EXISTS h"); got != ":0" {
					t.Fatalf("a hash whose fields have expired: %s", got)
				}
				want := "hset hexpire hexpire hexpire hexpire hexpire hexpire hpersist hincrby hset hdel hexpire hpersist hset hexpire hset hset hdel " +
					"hset hdel hdel hset hdel hset hdel hset hexpire hexpired hexpired del " +
					"hset hdel del hset hdel del hset hexpire hexpired del"
				var events []string
				for range more + len(strings.Fields(want)) {
					v, err := told.Read()
					if err != nil {
						t.Fatal(err)
					}
					events = append(events, v.Elems[2].Text)
				}
				if got := strings.Join(events[more:], " "); got != want {
					t.Errorf("events: %s, want %s", got, want)
				}
			})
		})
	}
}

// What is wrong with a command on fields that expire is said as Redis does.
func TestFieldExpiryArgumentsAreChecked(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Do("HSET", "h", "a", "1")
	o.Do("SET", "s", "1")
	o.Do("SADD", "set", "1")
	o.Do("ZADD", "zset", "1", "1")
	for line, want := range map[string]string{
		"HEXPIRE h x FIELDS 1 a":                   "-ERR value is not an integer or out of range",
		"HEXPIRE h -1 FIELDS 1 a":                  "-ERR invalid expire time, must be >= 0",
		"HEXPIRE h 9223372036854775807 FIELDS 1 a": "-ERR invalid expire time in 'hexpire' command",
		"HPEXPIREAT h 70368744177664 FIELDS 1 a":   "-ERR invalid expire time in 'hpexpireat' command",
		"HEXPIRE h 1 NX XX FIELDS 1 a":             "-ERR Mandatory argument FIELDS is missing or not at the right position",
		"HEXPIRE h 1 FIELDS 0 a":                   "-ERR Parameter `numFields` should be greater than 0",
		"HEXPIRE h 1 FIELDS 9223372036854775807 a": "-ERR The `numfields` parameter must match the number of arguments",
		"HEXPIRE s 1 FIELDS 1 a":                   "-WRONGTYPE Operation against a key holding the wrong kind of value",
		"HTTL h FIELDS 2 a":                        "-ERR The `numfields` parameter must match the number of arguments",
		"HTTL h FIELDS -1 a":                       "-ERR Number of fields must be a positive integer",
		"HPERSIST h a b c":                         "-ERR Mandatory argument FIELDS is missing or not at the right position",
		"HGETEX h EX 1 PX 1 FIELDS 1 a":            "-ERR Only one of EX, PX, EXAT, PXAT or PERSIST arguments can be specified",
		"HSETEX h EX 1 KEEPTTL FIELDS 1 a 1":       "-ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified",
		"HSETEX h FNX FXX FIELDS 1 a 1":            "-ERR Only one of FXX or FNX arguments can be specified",
		"HSETEX h FIELDS 4611686018427387904 a 1":  "-ERR invalid number of fields",
		"HSETEX h FIELDS 2 a 1 b":                  "-ERR wrong number of arguments for 'hsetex' command",
		"HGETEX h NX FIELDS 1 a":                   "-ERR unknown argument: NX",
		"HSETEX s FOO FIELDS 1 a 1":                "-ERR unknown argument: FOO",
		"SCAN 0 NOVALUES":                          "-ERR NOVALUES option can only be used in HSCAN",
		"SCAN 0 NOVALUES COUNT x":                  "-ERR NOVALUES option can only be used in HSCAN",
		"SCAN 0 COUNT x NOVALUES":                  "-ERR value is not an integer or out of range",
		"SSCAN set 0 NOVALUES COUNT x":             "-ERR NOVALUES option can only be used in HSCAN",
		"ZSCAN zset 0 NOVALUES BOGUS":              "-ERR NOVALUES option can only be used in HSCAN",
		"SSCAN set 0 TYPE set COUNT x":             "-ERR syntax error",
	} {
		if got := o.Do(strings.Fields(line)...).String(); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	if got := o.Do("HTTL", "h", "FIELDS", "1", "a").String(); got != "*(:-1)" {
		t.Errorf("after commands that were refused: %s", got)
	}
}
