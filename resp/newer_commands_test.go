package resp

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// newerCommands are commands after Redis 7.0, each with its reply: in RESP2 unless the name says RESP3. They are written from
// the documentation of the commands on redis.io and valkey.io; no server of that version is at
// hand.
var newerCommands = map[string]string{
	// redis.io, ZRANK and ZREVRANK: since 7.2.0 WITHSCORE, whose reply is an array or a null array.
	"ZRANK WITHSCORE": `
ZADD z 1 one 2.5 two 3 three => :3
ZRANK z two WITHSCORE => *(:1 $2.5)
ZREVRANK z three withscore => *(:0 $3)
ZRANK z none WITHSCORE => _*
ZREVRANK nokey one WITHSCORE => _*
ZRANK z two => :1
ZREVRANK z two => :1
ZRANK z one WITHSCORES => -ERR syntax error
ZRANK z one WITHSCORE x => -ERR wrong number of arguments for 'zrank' command
ZRANK z => -ERR wrong number of arguments for 'zrank' command
MULTI => +OK
ZRANK z two WITHSCORE => +QUEUED
EXEC => *(*(:1 $2.5))
EVAL return~redis.call('ZREVRANK',KEYS[1],'one','WITHSCORE') 1 z => *(:2 $1)
`,
	"RESP3 ZRANK WITHSCORE": `
ZADD y 1 one 2.5 two => :2
ZRANK y two WITHSCORE => *(:1 ,2.5)
ZRANK y none WITHSCORE => _
ZRANK y none => _
`,
	// redis.io, BITOP: since 8.2.0 DIFF, DIFF1, ANDOR and ONE.
	"BITOP": `
SET {b}1 abcd => +OK
SET {b}2 \xf0\xff => +OK
SET {b}3 \x0f\x00\x01 => +OK
BITOP DIFF {b}d {b}1 {b}2 {b}3 => :4
GET {b}d => $\x00\x00bd
BITOP DIFF1 {b}d {b}1 {b}2 {b}3 => :4
GET {b}d => $\x9e\x9d\x00\x00
BITOP ANDOR {b}d {b}1 {b}2 {b}3 => :4
GET {b}d => $ab\x01\x00
BITOP andor {b}d {b}1 {b}2 {b}3 {b}none => :4
BITOP ONE {b}d {b}1 {b}2 {b}3 => :4
GET {b}d => $\x9e\x9dbd
BITOP ONE {b}d {b}2 {b}2 {b}2 => :2
GET {b}d => $\x00\x00
BITOP ONE {b}d {b}1 => :4
GET {b}d => $abcd
BITOP ONE {b}1 {b}1 {b}none => :4
GET {b}1 => $abcd
SETRANGE {b}x 3000000 \xf0 => :3000001
SETRANGE {b}y 2999999 \x01\xff => :3000001
BITOP ONE {b}d {b}x {b}y {b}1 => :3000001
BITCOUNT {b}d => :18
GETRANGE {b}d 2999999 -1 => $\x01\x0f
BITOP DIFF {b}d {b}none {b}1 => :4
GET {b}d => $\x00\x00\x00\x00
BITOP DIFF {b}d {b}none {b}none => :0
EXISTS {b}d => :0
BITOP DIFF {b}d {b}1 => -ERR BITOP DIFF must be called with at least two source keys.
BITOP diff1 {b}d {b}1 => -ERR BITOP DIFF1 must be called with at least two source keys.
BITOP ANDOR {b}d {b}1 => -ERR BITOP ANDOR must be called with at least two source keys.
BITOP DIFF2 {b}d {b}1 {b}1 => -ERR syntax error
`,
}

func TestCommandsAfterRedis70AnswerAsDocumented(t *testing.T) {
	_, addr := serveTest(t, nil)
	for name, lines := range newerCommands {
		t.Run(name, func(t *testing.T) {
			proto := 2
			if strings.HasPrefix(name, "RESP3") {
				proto = 3
			}
			o := resptest.Dial(t, addr, proto)
			for line := range strings.Lines(lines) {
				command, want, ok := strings.Cut(strings.TrimSpace(line), " => ")
				if !ok {
					continue
				}
				var args []string
				for word := range strings.FieldsSeq(command) {
					args = append(args, unescape(t, word))
				}
				if got := o.Do(args...).String(); got != unescape(t, want) {
					t.Errorf("%s\n got %q\nwant %q", command, got, want)
				}
			}
		})
	}
}

// unescape returns a word with a space for each ~ and a byte for each \xNN.
func unescape(t *testing.T, word string) string {
	t.Helper()
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(word, "~", " ") + `"`)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
