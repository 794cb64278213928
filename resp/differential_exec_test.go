package resp

import (
	"bytes"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// execScripts are transactions that fail, or whose commands do. Lines that begin with 1 are
// sent by another connection, all others by the one whose bytes are compared.
var execScripts = map[string]string{
	"unknown command":            "MULTI\nNOSUCH a\nGET a\nEXEC\nEXEC",
	"too few arguments":          "MULTI\nGET\nEXEC\nDISCARD",
	"unknown subcommand":         "MULTI\nCLIENT NOSUCH\nEXEC",
	"wrong number of arguments":  "MULTI\nSET a\nSET a 1\nDISCARD\nEXEC",
	"arguments for EXEC":         "MULTI\nEXEC 1\nPING\nEXEC",
	"arguments for EXEC outside": "EXEC 1\nMULTI 1\nDISCARD 1\nUNWATCH 1\nWATCH",
	"EXEC outside":               "EXEC\nDISCARD\nEXEC",
	"nested MULTI":               "MULTI\nMULTI\nSET a 1\nEXEC\nGET a",
	"WATCH inside":               "MULTI\nWATCH a\nSET a 1\nEXEC",
	"MONITOR inside":             "MULTI\nMONITOR\nSET a 1\nEXEC\nGET a",
	"SHUTDOWN inside":            "MULTI\nSHUTDOWN\nEXEC",
	"watched key changed":        "WATCH a\n1 SET a 2\nMULTI\nGET a\nEXEC\nEXEC",
	"watched key changed, many":  "WATCH a b\n1 SET a 2\nMULTI\nPING\nGET a\nDBSIZE\nEXEC\nMULTI\nPING\nEXEC",
	"watched key changed, empty": "WATCH a\n1 SET a 2\nMULTI\nEXEC",
	"watched and refused":        "WATCH a\n1 SET a 2\nMULTI\nNOSUCH\nEXEC\nMULTI\nGET a\nEXEC",
	"watched, HELLO inside":      "WATCH a\n1 SET a 2\nMULTI\nHELLO 3\nEXEC",
	"wrong type":                 "SET s x\nMULTI\nLPUSH s a\nINCR s\nGET s\nHGETALL s\nEXEC",
	"syntax":                     "MULTI\nSET a 1 EX\nSET a 1 NX XX\nEXPIRE a x\nGETEX a EX 0\nEXEC",
	"overflow":                   "SET n 9223372036854775807\nMULTI\nINCR n\nINCRBYFLOAT n nan\nEXEC",
	"script fails": `MULTI
EVAL "return redis.call('nosuch')" 0
EVAL "error('x')" 0
EVAL "return {err='MINE it is'}" 1 a
EVALSHA ffffffffffffffffffffffffffffffffffffffff 0
EVAL "return 1" x
EXEC`,
	"blocking": `MULTI
BLPOP a b 0
BRPOP a 1
BLMOVE a b LEFT LEFT 0
BRPOPLPUSH a b 0
BZPOPMIN a 0
BZPOPMAX a b 0
BLMPOP 0 1 a LEFT
BZMPOP 0 1 a MIN
XREAD BLOCK 0 STREAMS a $
WAIT 1 0
EXEC`,
	"blocking with bad timeouts": "MULTI\nBLPOP a -1\nBLPOP a x\nBLMOVE a b LEFT LEFT -1\nBZPOPMIN a nan\nXREAD BLOCK -1 STREAMS a $\nEXEC",
	"blocking group read":        "XGROUP CREATE x g $ MKSTREAM\nMULTI\nXREADGROUP GROUP g me BLOCK 0 STREAMS x >\nXREADGROUP GROUP none me BLOCK 0 STREAMS x >\nEXEC",
	"nulls of all kinds":         "MULTI\nGET a\nLPOP a\nLPOP a 2\nSPOP a\nLPOS a x\nZRANK a m\nZSCORE a m\nHMGET a f\nGEOPOS a m\nRANDOMKEY\nSRANDMEMBER a\nZPOPMIN a\nLMPOP 1 a LEFT\nZRANDMEMBER a\nOBJECT ENCODING a\nEXEC",
	"database out of range":      "MULTI\nSELECT 99\nSELECT x\nEXEC",
	"HELLO inside":               "MULTI\nHELLO 9\nHELLO x\nHELLO 3 SETNAME\nEXEC",
	"HELLO 2 inside":             "MULTI\nHGETALL a\nHELLO 2\nHGETALL a\nGET a\nEXEC\nGET a",
	"HELLO 3 inside":             "MULTI\nHGETALL a\nHELLO 3 AUTH default x\nHGETALL a\nGET a\nEXEC\nGET a",
	"AUTH inside":                "MULTI\nAUTH x\nAUTH a b\nAUTH a b c\nEXEC",
	"QUIT inside":                "MULTI\nSET a 1\nQUIT",
	"RESET inside":               "MULTI\nSET a 1\nRESET\nEXEC",
	"SUBSCRIBE inside":           "MULTI\nSUBSCRIBE c d\nPING\nGET a\nEXEC\nEXEC\nMULTI\nGET a\nDISCARD\nUNWATCH\nWATCH a",
	"SUBSCRIBE before":           "SUBSCRIBE c\nEXEC\nMULTI\nDISCARD\nWATCH a\nPING\nPING x\nGET a\nNOSUCH\nEXEC 1\nGET",
	"SUBSCRIBE, refused":         "MULTI\nSUBSCRIBE\nSUBSCRIBE c\nEXEC",
	"UNSUBSCRIBE inside":         "MULTI\nUNSUBSCRIBE\nPUNSUBSCRIBE x\nSUNSUBSCRIBE\nEXEC",
	"PUBLISH inside":             "MULTI\nPUBLISH c\nPUBLISH c x\nEXEC",
	"CLIENT inside":              "MULTI\nCLIENT REPLY x\nCLIENT UNBLOCK 999999\nCLIENT NO-EVICT x\nCLIENT TRACKING on BCAST PREFIX a PREFIX ab\nCLIENT CACHING yes\nCLIENT KILL x\nEXEC",
	"MOVE and COPY":              "SET a 1\nMULTI\nRENAME nokey b\nRENAMENX nokey b\nCOPY a a\nRESTORE a 0 x\nRESTORE a -1 x\nMOVE a 0\nEXEC",
	"function calls":             "MULTI\nFUNCTION LOAD x\nFUNCTION DELETE nosuch\nSCRIPT KILL\nSCRIPT EXISTS\nEXEC",
	"SORT and LCS":               "SET s x\nMULTI\nSORT s\nLCS s\nLCS s s LEN IDX\nOBJECT HELP x\nEXEC",
	"an error in each":           "RPUSH l a\nMULTI\nGET l\nLSET l 9 x\nLINSERT l x a b\nZADD l 1 m\nSETRANGE l -1 x\nGETRANGE l 0 x\nEXEC\nDEL l",
}

// TestFailedTransactionsAnswerByteForByteAsRedis sends transactions that fail line by line,
// then at once, and compares all bytes of the answers. A client that counts replies waits for
// ever where one is missing.
func TestFailedTransactionsAnswerByteForByteAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	redis := redistest.Start7(t)
	_, alone := serveTest(t, nil)
	r := routedTest(t, 3)
	r.placeAll(oneOwner(t, "n2")) // the client is at another node
	servers := map[string][2]string{"alone": {alone, alone}, "cluster": {r.addrs[0], r.addrs[1]}}
	first := 2
	if testing.Short() { // one client that waits: only what nodes do for it runs concurrently
		delete(servers, "alone")
		first = 3
	}
	for name, script := range execScripts {
		for proto := first; proto <= 3; proto++ {
			want := [2]string{transcript(t, redis, redis, proto, script, false), ""}
			if !strings.Contains(script, "\n1 ") {
				want[1] = transcript(t, redis, redis, proto, script, true)
			}
			for where, addrs := range servers {
				for i, at := range []string{"line by line", "at once"} {
					if want[i] == "" {
						continue
					}
					if got := transcript(t, addrs[0], addrs[1], proto, script, i == 1); got != ourVersion(want[i]) {
						t.Errorf("%s, RESP%d, %s, %s:\n got %q\nwant %q", name, proto, where, at, got, want[i])
					}
				}
			}
		}
	}
}

// idOfHello is the only number in a reply that differs between servers.
var idOfHello = regexp.MustCompile(`id\r\n:[0-9]+`)

// transcript runs a script on empty data and returns all bytes that its connection receives,
// up to the end of the connection or the reply to a last ECHO.
func transcript(t *testing.T, addr, other string, proto int, script string, atOnce bool) string {
	t.Helper()
	second := resptest.Dial(t, other, 2)
	defer second.C.Close()
	second.Do("FLUSHALL")
	second.Do("FUNCTION", "FLUSH")
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(resptest.Patience))
	var all bytes.Buffer
	in := resptest.NewReader(io.TeeReader(c, &all))
	var cmds [][]string
	if proto == 3 {
		_, _ = c.Write(resptest.EncodeCommands([][]string{{"HELLO", "3"}}))
		if _, err := in.Read(); err != nil { // which names version and id
			t.Fatal(err)
		}
		all.Reset()
	}
	for line := range strings.Lines(script) {
		words, err := splitWords(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		if words[0] == "1" {
			second.Do(words[1:]...)
			continue
		}
		if atOnce {
			cmds = append(cmds, words)
			continue
		}
		_, _ = c.Write(resptest.EncodeCommands([][]string{words}))
		if _, err := in.Read(); err != nil {
			return all.String()
		}
	}
	const end = "the end"
	_, _ = c.Write(resptest.EncodeCommands(append(cmds, []string{"PING", end})))
	for !bytes.Contains(all.Bytes(), []byte(end)) {
		if _, err := in.Read(); err != nil { // the end of the connection: of RESET or EOF
			break
		}
	}
	return idOfHello.ReplaceAllString(all.String(), "id\r\n:1")
}

// TestRefusedTransactionIsOverAsInRedis refuses transactions for reasons that lie outside of
// their commands.
func TestRefusedTransactionIsOverAsInRedis(t *testing.T) {
	redis := redistest.Start7(t)
	admin := resptest.Dial(t, redis, 2)
	r := routedTest(t, 2)
	r.placeAll(oneOwner(t, "n1"))
	for proto := 2; proto <= 3; proto++ {
		for _, test := range []struct {
			name, script    string
			redis, redisEnd []string
			begin, end      func()
		}{
			{
				name: "too few copies at EXEC", script: "MULTI\nSET a 1\n!\nEXEC\nEXEC",
				redis: []string{"CONFIG", "SET", "min-replicas-to-write", "1"}, redisEnd: []string{"CONFIG", "SET", "min-replicas-to-write", "0"},
				begin: func() { r.servers[1].settings.MinInSync.Store(2) }, end: func() { r.servers[1].settings.MinInSync.Store(1) },
			},
			{
				name: "too few copies at EXEC of watched keys", script: "WATCH a\nMULTI\nPING\nSET a 1\n!\nEXEC\nMULTI\nEXEC",
				redis: []string{"CONFIG", "SET", "min-replicas-to-write", "1"}, redisEnd: []string{"CONFIG", "SET", "min-replicas-to-write", "0"},
				begin: func() { r.servers[1].settings.MinInSync.Store(2) }, end: func() { r.servers[1].settings.MinInSync.Store(1) },
			},
			{
				name: "no memory for the queue", script: "MULTI\nSET a 1\n!\nSET b " + strings.Repeat("x", 10<<10) + "\n.\nGET a\nEXEC\nEXEC",
				redis: []string{"CONFIG", "SET", "maxmemory", "1"}, redisEnd: []string{"CONFIG", "SET", "maxmemory", "0"},
				begin: func() { r.servers[0].settings.ClientMemory.Store(16 << 10) }, end: func() { r.servers[0].settings.ClientMemory.Store(64 << 20) },
			},
		} {
			theirs := refusedTranscript(t, redis, proto, test.script, func() { admin.Want("+OK", test.redis...) }, func() { admin.Want("+OK", test.redisEnd...) })
			ours := refusedTranscript(t, r.addrs[0], proto, test.script, test.begin, test.end)
			for i := range theirs {
				got, want := ours[i].String(), theirs[i].String()
				if strings.HasPrefix(want, "-OOM ") && got == "-"+msgNotQueued {
					continue
				}
				if got != want {
					t.Errorf("%s, RESP%d, reply %d: %s, want %s", test.name, proto, i, got, want)
				}
			}
		}
	}
}

// refusedTranscript returns the replies to a script. Its line "!" calls begin, its line "." end.
func refusedTranscript(t *testing.T, addr string, proto int, script string, begin, end func()) (replies []resptest.Value) {
	t.Helper()
	o := resptest.Dial(t, addr, proto)
	defer o.C.Close()
	for line := range strings.Lines(script) {
		switch line = strings.TrimSpace(line); line {
		case "!":
			begin()
		case ".":
			end()
		default:
			replies = append(replies, o.Do(strings.Fields(line)...))
		}
	}
	end()
	return append(replies, o.Do("PING"))
}
