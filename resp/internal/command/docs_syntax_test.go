package command

import (
	"strings"
	"testing"
)

// syntaxes are those of commands whose arguments COMMAND DOCS describes differently since Redis 7.0. No server of a later version
// is needed to run the tests: the lines were written from src/commands/*.json of Redis 7.4.1, and options of Redis 8
// from its documentation.
const syntaxes = `
bitcount : key [(start end [{BYTE | BIT}])]
bitfield : key [{GET (encoding offset) | ([OVERFLOW {WRAP | SAT | FAIL}] {SET (encoding offset value) | INCRBY (encoding offset increment)})}...]
bitfield_ro : key [GET (encoding offset)...GET]
bitop : {AND | OR | XOR | NOT | DIFF | DIFF1 | ANDOR | ONE} destkey key...
bitpos : key bit [(start [(end [{BYTE | BIT}])])]
client|kill : {old-format | {[ID client-id] | [TYPE {NORMAL | MASTER | SLAVE | REPLICA | PUBSUB}] | [USER username] | [ADDR addr] | [LADDR laddr] | [SKIPME {YES | NO}] | [MAXAGE maxage]}...}
client|list : [TYPE {NORMAL | MASTER | REPLICA | PUBSUB}] [ID client-id...]
client|tracking : {ON | OFF} [REDIRECT client-id] [PREFIX prefix...PREFIX] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]
command|getkeys : command [arg...]
command|getkeysandflags : command [arg...]
config|get : parameter...
config|set : (parameter value)...
geohash : key [member...]
geopos : key [member...]
geosearch : key {FROMMEMBER member | FROMLONLAT (longitude latitude)} {(BYRADIUS radius {M | KM | FT | MI}) | (BYBOX width height {M | KM | FT | MI})} [{ASC | DESC}] [(COUNT count [ANY])] [WITHCOORD] [WITHDIST] [WITHHASH]
georadius : key longitude latitude radius {M | KM | FT | MI} [WITHCOORD] [WITHDIST] [WITHHASH] [(COUNT count [ANY])] [{ASC | DESC}] [{STORE storekey | STOREDIST storedistkey}]
georadiusbymember : key member radius {M | KM | FT | MI} [WITHCOORD] [WITHDIST] [WITHHASH] [(COUNT count [ANY])] [{ASC | DESC}] [{STORE storekey | STOREDIST storedistkey}]
hscan : key cursor [MATCH pattern] [COUNT count] [NOVALUES]
latency|histogram : [command...]
migrate : host port {key | } destination-db timeout [COPY] [REPLACE] [{AUTH auth | AUTH2 (username password)}] [KEYS keys...]
module|loadex : path [CONFIG (name value)...CONFIG] [ARGS args...]
pfmerge : destkey [sourcekey...]
psubscribe : pattern...
set : key value [{NX | XX | IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | IFDNE ifdne-digest}] [GET] [{EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL}]
sort : key [BY by-pattern] [LIMIT (offset count)] [GET get-pattern...GET] [{ASC | DESC}] [ALPHA] [STORE destination]
xadd : key [NOMKSTREAM] [{KEEPREF | DELREF | ACKED}] [({MAXLEN | MINID} [{= | ~}] threshold [LIMIT count])] {* | id} (field value)...
xinfo|stream : key [(FULL [COUNT count])]
xread : [COUNT count] [BLOCK milliseconds] STREAMS (key... id...)
xreadgroup : GROUP (group consumer) [COUNT count] [BLOCK milliseconds] [CLAIM min-idle-time] [NOACK] STREAMS (key... id...)
xsetid : key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]
xtrim : key ({MAXLEN | MINID} [{= | ~}] threshold [LIMIT count]) [{KEEPREF | DELREF | ACKED}]
zadd : key [{NX | XX}] [{GT | LT}] [CH] [INCR] (score member)...
zrange : key start stop [{BYSCORE | BYLEX}] [REV] [LIMIT (offset count)] [WITHSCORES]
zrank : key member [WITHSCORE]
zrevrank : key member [WITHSCORE]
shutdown : [{NOSAVE | SAVE}] [NOW] [FORCE] [ABORT]
`

func TestSyntaxIsThatOfRedis74(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(syntaxes)) {
		name, want, _ := strings.Cut(strings.TrimSpace(line), " : ")
		doc := LoadDocs()[name]
		if doc == nil {
			t.Errorf("%s has no doc", name)
			continue
		}
		if got := syntaxOf(doc.Arguments, " "); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

// syntaxOf writes arguments as a line: [] are optional, {} are alternatives, and ... may be repeated, with the token
// behind it if that is, too.
func syntaxOf(args []Argument, between string) string {
	var parts []string
	for _, a := range args {
		text := a.Name
		switch a.Kind {
		case "pure-token":
			text = ""
		case "oneof":
			text = "{" + syntaxOf(a.Arguments, " | ") + "}"
		case "block":
			text = "(" + syntaxOf(a.Arguments, " ") + ")"
		}
		again := ""
		if a.Multiple {
			again = "..."
		}
		if a.MultipleToken {
			again += a.Token
		}
		text = strings.TrimSpace(a.Token+" "+text) + again
		if a.Optional {
			text = "[" + text + "]"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, between)
}
