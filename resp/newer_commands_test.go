package resp

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// newerCommands are commands after Redis 7.0, each with its reply: in RESP2 unless the name says RESP3. They are written from
// the documentation of the commands on redis.io and valkey.io, and from what a server of 7.4 answers; none is needed
// to run the tests.
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
	"sets": `
SADD s a b => :2
OBJECT ENCODING s => $listpack
SADD i 1 2 => :2
OBJECT ENCODING i => $intset
SADD i x => :1
OBJECT ENCODING i => $listpack
SADD i aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg => :1
OBJECT ENCODING i => $hashtable
EVAL for~i=1,128~do~redis.call('sadd',KEYS[1],'m'..i)~end~return~redis.call('object','encoding',KEYS[1]) 1 big => $listpack
SADD big m1 => :0
OBJECT ENCODING big => $listpack
SADD big more => :1
OBJECT ENCODING big => $hashtable
EVAL for~i=1,512~do~redis.call('sadd',KEYS[1],i)~end~return~redis.call('object','encoding',KEYS[1]) 1 ints => $intset
SADD ints 513 => :1
OBJECT ENCODING ints => $hashtable
EVAL for~i=1,127~do~redis.call('sadd',KEYS[1],i)~end~redis.call('sadd',KEYS[1],'x')~return~redis.call('object','encoding',KEYS[1]) 1 mixed => $listpack
SADD mixed 500 => :1
OBJECT ENCODING mixed => $hashtable
EVAL for~i=1,128~do~redis.call('sadd',KEYS[1],i)~end~redis.call('sadd',KEYS[1],'x')~return~redis.call('object','encoding',KEYS[1]) 1 grown => $hashtable
EVAL local~t={}~for~i=1,129~do~t[i]='x'~end~redis.call('sadd',KEYS[1],unpack(t))~return~redis.call('object','encoding',KEYS[1]) 1 told => $hashtable
EVAL local~t={}~for~i=1,129~do~t[i]='1'~end~redis.call('sadd',KEYS[1],unpack(t))~return~redis.call('object','encoding',KEYS[1]) 1 toldints => $intset
EVAL local~t={}~for~i=1,129~do~t[i]='1'~end~redis.call('sadd',KEYS[1],'a')~redis.call('sadd',KEYS[1],unpack(t))~return~redis.call('object','encoding',KEYS[1]) 1 toldwords => $hashtable
SUNIONSTORE d s ints => :515
OBJECT ENCODING d => $hashtable
SINTERSTORE d s s => :2
OBJECT ENCODING d => $listpack
SMOVE s one a => :1
OBJECT ENCODING one => $listpack
CONFIG SET set-max-listpack-value 3 set-max-listpack-entries 2 => +OK
SADD v abcd => :1
OBJECT ENCODING v => $hashtable
SADD w abc de => :2
OBJECT ENCODING w => $listpack
SADD w 1 => :1
OBJECT ENCODING w => $hashtable
CONFIG SET set-max-listpack-value 64 set-max-listpack-entries 128 => +OK
`,
	// One form up to list-max-listpack-size: OBJECT ENCODING and sizes in bytes are those of a server of 7.4.
	"lists": `
RPUSH l a b c => :3
OBJECT ENCODING l => $listpack
EVAL redis.call('rpush',KEYS[1],string.rep('x',8192))~return~redis.call('object','encoding',KEYS[1]) 1 l => $quicklist
LTRIM l 0 2 => +OK
OBJECT ENCODING l => $listpack
EVAL redis.call('lset',KEYS[1],0,string.rep('x',8192))~return~redis.call('object','encoding',KEYS[1]) 1 l => $quicklist
LSET l 0 a => +OK
OBJECT ENCODING l => $listpack
EVAL redis.call('linsert',KEYS[1],'before','b',string.rep('x',8192))~return~redis.call('object','encoding',KEYS[1]) 1 l => $quicklist
COPY l {l}copy => :1
OBJECT ENCODING {l}copy => $quicklist
EVAL for~i=1,1000~do~redis.call('rpush',KEYS[1],i)~end~return~redis.call('object','encoding',KEYS[1]) 1 integers => $listpack
EVAL for~i=1,2770~do~redis.call('rpush',KEYS[1],i)~end~return~redis.call('object','encoding',KEYS[1]) 1 fit => $listpack
RPUSH fit 2771 => :2771
OBJECT ENCODING fit => $quicklist
EVAL for~i=1,124~do~redis.call('rpush',KEYS[1],string.rep('w',64))~end~return~redis.call('object','encoding',KEYS[1]) 1 words => $quicklist
EVAL for~i=1,122~do~redis.call('rpush',KEYS[1],string.rep('w',64))~end~return~redis.call('object','encoding',KEYS[1]) 1 room => $listpack
EVAL for~i=1,200~do~redis.call('rpush',KEYS[1],string.rep('w',64))~end~redis.call('rpop',KEYS[1],100)~return~redis.call('object','encoding',KEYS[1]) 1 shrunk => $quicklist
LTRIM shrunk 0 58 => +OK
OBJECT ENCODING shrunk => $listpack
CONFIG SET list-max-listpack-size 4 => +OK
RPUSH n a b c d => :4
OBJECT ENCODING n => $listpack
LSET n 0 a => +OK
OBJECT ENCODING n => $quicklist
LPOP n => $a
OBJECT ENCODING n => $quicklist
RPOP n => $d
OBJECT ENCODING n => $listpack
LMOVE n {n}other LEFT LEFT => $b
OBJECT ENCODING {n}other => $listpack
RPUSH {n}other 1 2 3 4 => :5
OBJECT ENCODING {n}other => $quicklist
LMOVE n {n}other LEFT RIGHT => $c
OBJECT ENCODING {n}other => $quicklist
LMPOP 1 {n}other RIGHT COUNT 4 => *(${n}other *($c $4 $3 $2))
OBJECT ENCODING {n}other => $listpack
RPUSH {n}sorted 5 4 3 2 1 => :5
SORT {n}sorted STORE {n}sorted => :5
OBJECT ENCODING {n}sorted => $quicklist
CONFIG SET list-max-listpack-size 5 => +OK
OBJECT ENCODING {n}sorted => $quicklist
SORT {n}sorted STORE {n}sorted => :5
OBJECT ENCODING {n}sorted => $listpack
EVAL redis.call('restore',KEYS[2],0,redis.call('dump',KEYS[1]))~return~redis.call('object','encoding',KEYS[2]) 2 {n}sorted {n}restored => $listpack
CONFIG SET list-max-listpack-size 0 => +OK
RPUSH single a => :1
OBJECT ENCODING single => $listpack
RPUSH single a => :2
OBJECT ENCODING single => $quicklist
CONFIG SET list-max-ziplist-size -6 => +OK
EVAL redis.call('rpush',KEYS[1],string.rep('x',60000))~return~redis.call('object','encoding',KEYS[1]) 1 broad => $listpack
EVAL redis.call('rpush',KEYS[1],string.rep('x',5536))~return~redis.call('object','encoding',KEYS[1]) 1 broad => $quicklist
CONFIG SET list-max-listpack-size -2 => +OK
`,
	// A small hash whose fields have expired, or expire no more, keeps the encoding that it had with them.
	"encodings of hashes": `
HSET h a 1 b 2 => :2
OBJECT ENCODING h => $listpack
HEXPIRE h 1000 FIELDS 1 a => *(:1)
OBJECT ENCODING h => $listpackex
HPERSIST h FIELDS 1 a => *(:1)
OBJECT ENCODING h => $listpackex
HTTL h FIELDS 2 a b => *(:-1 :-1)
HSET h c 3 b 4 => :1
OBJECT ENCODING h => $listpackex
HEXPIRE h 1000 FIELDS 2 b c => *(:1 :1)
HSET h b 5 => :0
HDEL h c => :1
OBJECT ENCODING h => $listpackex
HGETALL h => *($a $1 $b $5)
HINCRBY h b 1 => :6
HSCAN h 0 => *($0 *($a $1 $b $6))
COPY h {h}copy => :1
OBJECT ENCODING {h}copy => $listpackex
RENAME {h}copy {h}renamed => +OK
OBJECT ENCODING {h}renamed => $listpackex
HEXPIRE {h}renamed 0 FIELDS 1 a => *(:2)
OBJECT ENCODING {h}renamed => $listpackex
EVAL redis.call('restore',KEYS[2],0,redis.call('dump',KEYS[1]))~return~redis.call('hgetall',KEYS[2]) 2 h {h}restored => *($a $1 $b $6)
EVAL for~i=1,600~do~redis.call('hset',KEYS[1],'f'..i,i)~end~return~redis.call('object','encoding',KEYS[1]) 1 h => $hashtable
HTTL h FIELDS 2 b f600 => *(:-1 :-1)
HLEN h => :602
DEL h => :1
HSET h a 1 => :1
OBJECT ENCODING h => $listpack
`,
	"ranges of bits": `
BITCOUNT none a b => -ERR value is not an integer or out of range
BITCOUNT none 1 => -ERR syntax error
BITCOUNT none 1 2 x => -ERR syntax error
BITCOUNT none 1 2 bit => :0
BITCOUNT none -1 -2 x => -ERR syntax error
BITPOS none 1 a => -ERR value is not an integer or out of range
BITPOS none 0 1 2 x => -ERR syntax error
BITPOS none 0 1 2 bit x => -ERR syntax error
BITPOS none 0 1 2 bit => :0
SADD notext a => :1
BITCOUNT notext a b => -ERR value is not an integer or out of range
BITPOS notext 1 0 1 x => -ERR syntax error
`,
	"scripts that do not wait": `
XADD st 1-1 a b => $1-1
EVAL return~redis.call('xread','block','0','streams',KEYS[1],'$') 1 st => _$
EVAL return~redis.call('xread','block','0','streams',KEYS[1],'0') 1 st => *(*($st *(*($1-1 *($a $b)))))
XGROUP CREATE st g $ => +OK
EVAL return~redis.call('xreadgroup','group','g','c','block','0','streams',KEYS[1],'>') 1 st => _$
EVAL return~redis.pcall('xread','block','x','streams',KEYS[1],'0') 1 st => -ERR timeout is not an integer or out of range
EVAL return~redis.call('blpop',KEYS[1],'0') 1 nolist => _$
EVAL return~redis.call('blmove',KEYS[1],KEYS[2],'left','left','0') 2 nolist other => _$
EVAL return~redis.call('brpoplpush',KEYS[1],KEYS[2],'0') 2 nolist other => _$
EVAL return~redis.call('bzpopmin',KEYS[1],'0') 1 nolist => _$
RPUSH list a b => :2
EVAL return~redis.call('blpop',KEYS[1],'0') 1 list => *($list $a)
EVAL return~redis.call('wait','1','0') 0 => :0
EVAL return~redis.call('waitaof','0','1','0') 0 => *(:0 :0)
EVAL return~redis.pcall('waitaof','2','1','0') 0 => -ERR value is out of range, value must between 0 and 1
`,
	"doubles": `
ZADD doubles INCR 0.1 a => $0.1
ZADD doubles INCR 1e17 b => $100000000000000000
ZADD doubles INCR 1e21 c => $1e+21
ZADD doubles INCR 1e-7 d => $1e-7
ZADD doubles INCR 0.0000015 e => $1.5e-6
ZADD doubles INCR 1.2345678901234568e19 f => $12345678901234567000
ZINCRBY doubles 0.2 a => $0.30000000000000004
ZSCORE doubles e => $1.5e-6
EVAL redis.call('set',KEYS[1],0.1)~return~redis.call('get',KEYS[1]) 1 lua => $0.1
EVAL redis.call('set',KEYS[1],-0)~return~redis.call('get',KEYS[1]) 1 lua => $0
`,
	"bounds of numbers": `
RPUSH bl a => :1
BLPOP bl inf => -ERR timeout is out of range
BLPOP bl 1e400 => -ERR timeout is out of range
BLPOP bl 9223372036854775.807 => -ERR timeout is out of range
BLPOP bl -1 => -ERR timeout is negative
XREAD BLOCK 9223372036854775807 STREAMS st 0 => -ERR timeout is out of range
WAIT 0 9223372036854775807 => -ERR timeout is out of range
CLIENT PAUSE 9223372036854775807 => -ERR timeout is out of range
LREM bl -9223372036854775808 a => -ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807
LPOS bl a RANK -9223372036854775808 => -ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807
SCAN -1 => -ERR invalid cursor
SCAN -9 COUNT x => -ERR invalid cursor
SSCAN nokey -1 => -ERR invalid cursor
XADD xs 20-1 a b => $20-1
XDEL xs 20-1 => :1
XSETID xs 14 => -ERR The ID specified in XSETID is smaller than current max_deleted_entry_id
XSETID xs 21 => +OK
XADD wide 5-18446744073709551615 a b => $5-18446744073709551615
XADD wide 5-* a b => -ERR The ID specified in XADD is equal or smaller than the target stream top item
XREAD STREAMS a b c => -ERR Unbalanced 'xread' list of streams: for each stream key an ID or '$' must be specified.
XREADGROUP GROUP g c STREAMS a b c => -ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must be specified.
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

// A list that no write has marked, as those of earlier versions and those that were written under a larger limit, is
// called by its present size.
func TestEncodingOfUnmarkedListFollowsItsSize(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	limit := func(n string) { o.Want("+OK", "CONFIG", "SET", "list-max-listpack-size", n) }
	limit("5000")
	for i := range 4000 {
		o.Do("RPUSH", "l", strconv.Itoa(i%100))
	}
	o.Want("$listpack", "OBJECT", "ENCODING", "l")
	for _, c := range [][2]string{{"3999", "quicklist"}, {"-1", "quicklist"}, {"-2", "listpack"}, {"0", "quicklist"}, {"-5", "listpack"}} {
		limit(c[0])
		o.Want("$"+c[1], "OBJECT", "ENCODING", "l")
	}
	limit("-1") // of 4,096 bytes, the list has 8,007
	o.Want(":4001", "RPUSH", "l", "1")
	limit("-2")
	o.Want("$quicklist", "OBJECT", "ENCODING", "l") // the write has marked it
}
