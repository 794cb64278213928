package resp

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// jsonCommands are commands on JSON values, each with its reply: in RESP2 unless the name says RESP3. They are written
// from the documentation of the commands on redis.io, whose examples are among them; no server with RedisJSON is at
// hand. A · stands for a space.
var jsonCommands = map[string]string{
	"SET and GET": `
JSON.SET d $ {"a":2,·"b":·3,·"nested":{"a":4,"b":null}} => +OK
TYPE d => +ReJSON-RL
OBJECT ENCODING d => $raw
JSON.GET d => ${"a":2,"b":3,"nested":{"a":4,"b":null}}
JSON.GET d $..b => $[3,null]
JSON.GET d ..a $..b => ${"..a":[2,4],"$..b":[3,null]}
JSON.GET d .a .nested.a => ${".a":2,".nested.a":4}
JSON.GET d .nested => ${"a":4,"b":null}
JSON.GET d nested.a => $4
JSON.GET d $.none => $[]
JSON.GET d .none => -ERR Path does not exist
JSON.GET d . $.a => ${".":[{"a":2,"b":3,"nested":{"a":4,"b":null}}],"$.a":[2]}
JSON.GET none => _
JSON.GET none $.a => _
JSON.GET d FORMAT EXPAND => -ERR FORMAT argument is not supported on RESP2
JSON.GET d INDENT + NEWLINE | SPACE _ .nested => ${|+"a":_4,|+"b":_null|}
JSON.GET d NEWLINE | $.a => $[|2|]
JSON.GET d NOESCAPE .a => $2
JSON.GET d INDENT => -ERR syntax error
JSON.SET d $.a 3 => +OK
JSON.SET d $.c [1,{"x":"y"}] => +OK
JSON.SET d .nested.c true => +OK
JSON.GET d => ${"a":3,"b":3,"nested":{"a":4,"b":null,"c":true},"c":[1,{"x":"y"}]}
JSON.SET d $..a "z" => +OK
JSON.GET d $..a => $["z","z"]
JSON.SET d $.a 1 NX => _
JSON.SET d $.new 1 XX => _
JSON.SET d $.new 1 NX => +OK
JSON.SET d $.new 2 XX => +OK
JSON.SET d $ 5 NX => _
JSON.SET none $ 5 XX => _
JSON.SET d $.a 1 NX XX => -ERR syntax error
JSON.SET none .a 1 => -ERR new objects must be created at the root
JSON.SET d $.none.none 1 => _
JSON.SET d $.c[5] 1 => -ERR array index out of range
JSON.SET d $.c[0] 7 NX => _
JSON.SET d $.c[-1].x 8 => +OK
JSON.SET d $..none 1 => -ERR wrong static path
JSON.GET d $.c => $[[1,{"x":8}]]
EXISTS none => :0
JSON.SET d $ => -ERR wrong number of arguments for 'json.set' command
JSON.SET d $ 1 FORMAT BSON => -ERR wrong format
JSON.SET d $ 1 FORMAT JSON => +OK
`,
	"scalars": `
JSON.SET s . "foo" => +OK
JSON.GET s => $"foo"
JSON.GET s $ => $["foo"]
JSON.SET s $ 1.0 => +OK
JSON.GET s => $1.0
JSON.SET s $ 1e2 => +OK
JSON.GET s => $100.0
JSON.SET s $ 1e-7 => +OK
JSON.GET s => $1e-7
JSON.SET s $ 18446744073709551615 => +OK
JSON.GET s => $18446744073709551615
JSON.TYPE s $ => *($integer)
JSON.SET s $ 18446744073709551616 => +OK
JSON.GET s => $1.8446744073709552e19
JSON.SET s $ 0.00001 => +OK
JSON.GET s => $0.00001
JSON.SET s $ ["\u00e4\n\u0001\/\ud83d\ude00"] => +OK
JSON.GET s => $["ä\n\u0001/😀"]
JSON.SET s $ {"b":1,"a":2,"b":3} => +OK
JSON.GET s => ${"b":3,"a":2}
`,
	"errors of texts": `
JSON.SET s $ foo => -ERR expected ident at line 1 column 2
JSON.SET s $ [ => -ERR EOF while parsing a list at line 1 column 1
JSON.SET s $ [1,] => -ERR trailing comma at line 1 column 4
JSON.SET s $ {"a"1} => -ERR expected ` + "`:`" + ` at line 1 column 5
JSON.SET s $ {a:1} => -ERR key must be a string at line 1 column 2
JSON.SET s $ 01 => -ERR invalid number at line 1 column 2
JSON.SET s $ 1x => -ERR trailing characters at line 1 column 2
JSON.SET s $ "a => -ERR EOF while parsing a string at line 1 column 2
JSON.SET s $ 1e999 => -ERR number out of range at line 1 column 5
JSON.SET s $[ 1 => -ERR invalid JSONPath at byte 2: a name, a number, a wildcard or a filter is missing
EXISTS s => :0
`,
	"types": `
SET string x => +OK
JSON.GET string => -WRONGTYPE Operation against a key holding the wrong kind of value
JSON.SET string $ 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
JSON.DEL string => -WRONGTYPE Operation against a key holding the wrong kind of value
JSON.MGET string $ => *(_)
JSON.SET j $ 1 => +OK
GET j => -WRONGTYPE Operation against a key holding the wrong kind of value
APPEND j x => -WRONGTYPE Operation against a key holding the wrong kind of value
STRLEN j => -WRONGTYPE Operation against a key holding the wrong kind of value
SETRANGE j 0 x => -WRONGTYPE Operation against a key holding the wrong kind of value
SETBIT j 0 1 => -WRONGTYPE Operation against a key holding the wrong kind of value
BITCOUNT j => -WRONGTYPE Operation against a key holding the wrong kind of value
INCR j => -WRONGTYPE Operation against a key holding the wrong kind of value
GETEX j => -WRONGTYPE Operation against a key holding the wrong kind of value
PFADD j x => -WRONGTYPE Operation against a key holding the wrong kind of value
HGETALL j => -WRONGTYPE Operation against a key holding the wrong kind of value
LPUSH j x => -WRONGTYPE Operation against a key holding the wrong kind of value
SORT j => -WRONGTYPE Operation against a key holding the wrong kind of value
MGET j => *(_)
SET j 1 => +OK
GET j => $1
`,
	"keys": `
JSON.SET {k}a $ {"a":[1,2]} => +OK
EXPIRE {k}a 1000 => :1
JSON.SET {k}a $.b 1 => +OK
TTL {k}a => :1000
JSON.SET {k}a $ {"a":[1,2]} => +OK
TTL {k}a => :1000
COPY {k}a {k}b => :1
JSON.GET {k}b => ${"a":[1,2]}
TTL {k}b => :1000
RENAME {k}b {k}c => +OK
JSON.GET {k}c $.a[1] => $[2]
PERSIST {k}c => :1
TTL {k}c => :-1
MEMORY USAGE {k}c => :63
MULTI => +OK
JSON.SET {k}c $.a 5 => +QUEUED
JSON.NUMINCRBY {k}c $.a 5 => +QUEUED
EXEC => *(+OK $[10])
EVAL return·redis.call('JSON.GET',KEYS[1],'$.a') 1 {k}c => $[10]
DEL {k}c => :1
SCAN 0 TYPE rejson-rl COUNT 1000 MATCH {k}* => *($0 *(${k}a))
`,
	"DEL and CLEAR": `
JSON.SET d $ {"a":1,"nested":{"a":2,"b":3}} => +OK
JSON.DEL d $..a => :2
JSON.GET d $ => $[{"nested":{"b":3}}]
JSON.DEL d $.none => :0
JSON.FORGET d .nested.b => :1
JSON.GET d => ${"nested":{}}
JSON.DEL d .nested => :1
EXISTS d => :0
JSON.DEL d => :0
JSON.SET d $ {"a":{"a":{"a":1}},"b":[0,1,2,3]} => +OK
JSON.DEL d $..a => :1
JSON.DEL d $.b[0,2,0] => :2
JSON.GET d => ${"b":[1,3]}
JSON.DEL d => :1
JSON.SET d $ {"obj":{"a":1,"b":2},"arr":[1,2,3],"str":"foo","bool":true,"int":42,"float":3.14} => +OK
JSON.CLEAR d $.* => :4
JSON.GET d $ => $[{"obj":{},"arr":[],"str":"foo","bool":true,"int":0,"float":0}]
JSON.CLEAR d $.* => :0
JSON.CLEAR d => :1
JSON.GET d => ${}
JSON.CLEAR none => -ERR could not perform this operation on a key that doesn't exist
`,
	"MERGE": `
JSON.SET d $ {"a":2} => +OK
JSON.MERGE d $.b 8 => +OK
JSON.MERGE d $.a 3 => +OK
JSON.GET d => ${"a":3,"b":8}
JSON.MERGE d $ {"a":null} => +OK
JSON.GET d => ${"b":8}
JSON.SET d $ {"a":[2,4,6,8]} => +OK
JSON.MERGE d $.a [10,12] => +OK
JSON.GET d => ${"a":[10,12]}
JSON.SET d $ {"f1":{"a":1},"f2":{"a":2}} => +OK
JSON.MERGE d $ {"f1":null,"f2":{"a":3,"b":4},"f3":[2,4,6]} => +OK
JSON.GET d => ${"f2":{"a":3,"b":4},"f3":[2,4,6]}
JSON.MERGE d $.. {} => -ERR invalid JSONPath at byte 3: a name is missing
JSON.MERGE d $.f2.x {"y":{"z":null,"n":1}} => +OK
JSON.GET d $.f2.x => $[{"y":{"n":1}}]
JSON.MERGE d $..a {"p":1} => +OK
JSON.GET d $.f2.a => $[{"p":1}]
JSON.MERGE d $.none.none 1 => _
JSON.MERGE none $.a 1 => -ERR new objects must be created at the root
JSON.MERGE new $ {"a":1,"b":null} => +OK
JSON.GET new => ${"a":1}
`,
	"several keys": `
JSON.SET {d}1 $ {"a":1,"b":2,"nested":{"a":3},"c":null} => +OK
JSON.SET {d}2 $ {"a":4,"b":5,"nested":{"a":6},"c":null} => +OK
JSON.MGET {d}1 {d}2 $..a => *($[1,3] $[4,6])
JSON.MGET {d}1 {d}none {d}2 .a => *($1 _ $4)
JSON.MGET {d}1 .none => *(_)
JSON.MGET {d}1 => -ERR wrong number of arguments for 'json.mget' command
JSON.MSET {d}1 $ {"a":1} {d}2 $.a 2 {d}3 $ [] => +OK
JSON.MGET {d}1 {d}2 {d}3 $ => *($[{"a":1}] $[{"a":2,"b":5,"nested":{"a":6},"c":null}] $[[]])
JSON.MSET {d}1 $.a 5 {d}1 $.b 6 => +OK
JSON.GET {d}1 => ${"a":5,"b":6}
JSON.SET {d}4 $ {"a":0,"b":0} => +OK
JSON.MSET {d}4 $.* {"x":[1]} {d}4 $.a.x[0] 2 => +OK
JSON.GET {d}4 => ${"a":{"x":[2]},"b":{"x":[1]}}
JSON.MSET {d}1 $.a 7 {d}none $.a 1 => -ERR new objects must be created at the root
JSON.MSET {d}1 $.a 7 {d}2 $ x => -ERR expected value at line 1 column 1
JSON.GET {d}1 => ${"a":5,"b":6}
JSON.MSET {d}1 $.a 7 {d}2 => -ERR wrong number of arguments for 'json.mset' command
`,
	"numbers": `
JSON.SET d . {"a":"b","b":[{"a":2},{"a":5},{"a":"c"}]} => +OK
JSON.NUMINCRBY d $.a 2 => $[null]
JSON.NUMINCRBY d $..a 2 => $[null,4,7,null]
JSON.NUMMULTBY d $..a 2 => $[null,8,14,null]
JSON.NUMINCRBY d .b[0].a 1.5 => $9.5
JSON.NUMINCRBY d .b[0].a -0.5 => $9.0
JSON.NUMINCRBY d .a 1 => -ERR Path does not exist or does not contains a number
JSON.NUMINCRBY d $.b[1].a 9223372036854775807 => -ERR numeric overflow
JSON.NUMMULTBY d $.b[1].a 1e308 => -ERR result is not a number
JSON.NUMINCRBY d $.b[1].a "1" => -ERR bad input number
JSON.NUMINCRBY none $ 1 => -ERR could not perform this operation on a key that doesn't exist
JSON.GET d $..a => $["b",9.0,14,"c"]
`,
	"RESP3 replies": `
JSON.SET d . {"a":"b","b":[{"a":2},{"a":5},{"a":"c"}],"f":1.5,"t":true,"n":null} => +OK
JSON.NUMINCRBY d $..a 2 => *(_ :4 :7 _)
JSON.NUMINCRBY d .f 2 => *(,3.5)
JSON.TYPE d $.f => *(*($number))
JSON.TYPE d .f => *($number)
JSON.TYPE none .f => *(_)
JSON.GET d FORMAT EXPAND1 $.t $.b[0] => *(*(#t) *(${"a":4}))
JSON.GET d FORMAT EXPAND $.n $.b[0,1] => *(*(_) *(%($a :4) %($a :7)))
JSON.GET d FORMAT STRING .n => $null
JSON.GET d FORMAT STRINGS .n => -ERR wrong reply format
JSON.ARRPOP d FORMAT EXPAND $.b => *(%($a $c))
`,
	"strings": `
JSON.SET d $ {"a":"foo","nested":{"a":"hello"},"nested2":{"a":31}} => +OK
JSON.STRLEN d $..a => *(:3 :5 _)
JSON.STRAPPEND d $..a "baz" => *(:6 :8 _)
JSON.GET d $ => $[{"a":"foobaz","nested":{"a":"hellobaz"},"nested2":{"a":31}}]
JSON.STRAPPEND d .a "ä" => :8
JSON.STRLEN d .a => :8
JSON.STRLEN d .nested2.a => -WRONGTYPE wrong type of path value - expected string
JSON.STRLEN none .a => _
JSON.STRLEN none $.a => -ERR could not perform this operation on a key that doesn't exist
JSON.STRAPPEND d .nested2.a "x" => -ERR Path does not exist or not a string
JSON.STRAPPEND d .a 1 => -WRONGTYPE wrong type of path value - expected string
JSON.SET s $ "a" => +OK
JSON.STRAPPEND s "b" => :2
JSON.STRLEN s => :2
`,
	"arrays": `
JSON.SET d $ {"colors":["black","silver"],"n":{"colors":[]},"x":1} => +OK
JSON.ARRAPPEND d $.colors "blue" => *(:3)
JSON.ARRINDEX d $..colors "silver" => *(:1 :-1)
JSON.ARRINSERT d $.colors 2 "yellow" "gold" => *(:5)
JSON.ARRINSERT d $.x 2 "yellow" => *(_)
JSON.ARRINSERT d .x 2 "yellow" => -ERR Path does not exist or not an array
JSON.ARRINSERT d .colors 9 1 => -ERR index out of bounds
JSON.ARRINSERT d .colors -6 1 => -ERR index out of bounds
JSON.ARRLEN d $..colors => *(:5 :0)
JSON.ARRLEN d .colors => :5
JSON.ARRLEN d .x => -ERR Path does not exist or not an array
JSON.ARRLEN d .none => -ERR Path does not exist
JSON.ARRLEN none .x => _
JSON.GET d .colors => $["black","silver","yellow","gold","blue"]
JSON.ARRINDEX d .colors "gold" 1 3 => :-1
JSON.ARRINDEX d .colors "gold" 1 4 => :3
JSON.ARRINDEX d .colors "gold" -2 => :3
JSON.ARRINDEX d .colors "gold" 1 -1 => :3
JSON.ARRINDEX d .x 1 => -WRONGTYPE wrong type of path value - expected array
JSON.ARRINDEX none .x 1 => -ERR Path does not exist
JSON.ARRTRIM d $.colors 1 3 => *(:3)
JSON.GET d .colors => $["silver","yellow","gold"]
JSON.ARRPOP d $..colors => *($"gold" _)
JSON.ARRPOP d .colors 0 => $"silver"
JSON.ARRPOP d .colors 9 => $"yellow"
JSON.ARRPOP d .colors => _
JSON.ARRPOP d .x => -ERR Path does not exist or not an array
JSON.ARRTRIM d .colors 5 9 => :0
JSON.SET a $ [[1,2],[3,[4]]] => +OK
JSON.ARRPOP a $..* => *($2 $[] _ _ _ $4 _)
JSON.GET a => $[[1],[3]]
JSON.ARRPOP a => $[3]
`,
	"objects": `
JSON.SET d $ {"a":[3],"nested":{"a":{"b":2,"c":1}}} => +OK
JSON.OBJKEYS d $..a => *(_ *($b $c))
JSON.OBJLEN d $..a => *(_ :2)
JSON.OBJKEYS d => *($a $nested)
JSON.OBJLEN d => :2
JSON.OBJLEN d .a => -WRONGTYPE wrong type of path value - expected object
JSON.OBJKEYS d .a => -ERR Path does not exist or not an object
JSON.OBJLEN d .none => _
JSON.OBJKEYS d .none => _
JSON.OBJLEN none $.a => -ERR Path does not exist or not an object
JSON.OBJKEYS none => _
JSON.TYPE d $..a => *($array $object)
JSON.TYPE d .nested.a.b => $integer
JSON.TYPE d $.none => *
JSON.TYPE none => _
JSON.SET b $ {"bool":true,"x":1} => +OK
JSON.TOGGLE b $.bool => *(:0)
JSON.TOGGLE b $.bool => *(:1)
JSON.TOGGLE b $.* => *(:0 _)
JSON.TOGGLE b .bool => $true
JSON.TOGGLE b .x => -ERR Path does not exist or not a bool
JSON.RESP b => *(+{ $bool +true $x :1)
JSON.SET b $ [null,1.5,"s",{}] => +OK
JSON.RESP b $ => *(*(+[ _ $1.5 $s *(+{)))
JSON.RESP b .[1] => $1.5
JSON.RESP b .none => -ERR Path does not exist
`,
	"paths": `
JSON.SET d $ {"books":[{"t":"A","p":8.95,"i":"x"},{"t":"B","p":12.99},{"t":"C","p":8.99,"i":"y"},{"t":"D","p":22.99}],"max":10} => +OK
JSON.GET d $.books[*].t => $["A","B","C","D"]
JSON.GET d $.books[0:2].t => $["A","B"]
JSON.GET d $.books[-2:].t => $["C","D"]
JSON.GET d $.books[::2].t => $["A","C"]
JSON.GET d $.books[0,-1].t => $["A","D"]
JSON.GET d $.books[?(@.p<10)].t => $["A","C"]
JSON.GET d $.books[?(@.p<$.max)].t => $["A","C"]
JSON.GET d $.books[?@.i].t => $["A","C"]
JSON.GET d $.books[?!@.i].t => $["B","D"]
JSON.GET d $.books[?(@.p>10·&&·@.t!='D'·||·@.i=="y")].t => $["B","C"]
JSON.GET d $.books[?(@.t=~'^[AB]$')].t => $["A","B"]
JSON.GET d $..[?(@.t=="D")].p => $[22.99]
JSON.GET d $['books'][1]["t"] => $["B"]
JSON.GET d $['max','books'][0].t => $["A"]
JSON.GET d $..p => $[8.95,12.99,8.99,22.99]
JSON.GET d $.* => $[[{"t":"A","p":8.95,"i":"x"},{"t":"B","p":12.99},{"t":"C","p":8.99,"i":"y"},{"t":"D","p":22.99}],10]
JSON.GET d books[0].t => $"A"
JSON.GET d ["books"][0].t => $"A"
JSON.GET d .books[?(@.p>10)].t => $"B"
JSON.GET d $.books[0 => -ERR invalid JSONPath at byte 9: ` + "`,` or `]`" + ` is missing
JSON.GET d $.books[::0] => -ERR invalid JSONPath at byte 11: the step of a slice is not positive
`,
}

// nullOfRESP2 finds what stands for null in replies.
var nullOfRESP2 = regexp.MustCompile(`(^|[( ])_([ )]|$)`)

func TestJSONCommandsAnswerAsDocumented(t *testing.T) {
	_, addr := serveTest(t, nil)
	for name, lines := range jsonCommands {
		t.Run(name, func(t *testing.T) {
			proto := 2
			if strings.HasPrefix(name, "RESP3") {
				proto = 3
			}
			o := resptest.Dial(t, addr, proto)
			o.Do("FLUSHALL")
			for line := range strings.Lines(lines) {
				command, want, ok := strings.Cut(strings.TrimSpace(line), " => ")
				if !ok {
					continue
				}
				var args []string
				for word := range strings.FieldsSeq(command) {
					args = append(args, strings.ReplaceAll(word, "·", " "))
				}
				if proto == 2 {
					for nullOfRESP2.MatchString(want) {
						want = nullOfRESP2.ReplaceAllString(want, "${1}_$$${2}")
					}
				}
				if got := o.Do(args...).String(); got != want {
					t.Errorf("%s\n got %s\nwant %s", command, got, want)
				}
			}
		})
	}
}
