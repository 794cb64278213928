package resp

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// pubsubScript is what several clients do, one line each: who, and what it sends. Parts of
// a pipeline are set apart by a bar. A last word "!" tells that the order of the replies is
// not said.
const pubsubScript = `
a SUBSCRIBE x x y
a GET k
a get
a nosuch
a PING
a PING hi
a PING a b
a HELLO 3
a UNSUBSCRIBE !
a UNSUBSCRIBE
a PUNSUBSCRIBE
a SUNSUBSCRIBE
a UNSUBSCRIBE q w
a CLIENT REPLY OFF
a SUBSCRIBE z
b PUBLISH z 1
a PING
a RESET
b PUBSUB NUMSUB z
a CLIENT REPLY ON
c HELLO 3
c SUBSCRIBE m
c PUBLISH m hello !
c PSUBSCRIBE m*|PUBLISH m two|GET k !
b PUBLISH m other|PUBLISH n none|PUBLISH m again
c CLIENT REPLY OFF
c PUBLISH m three !
c CLIENT REPLY ON
c CLIENT REPLY SKIP
c SUBSCRIBE n
c PING
c UNSUBSCRIBE|PUNSUBSCRIBE !
c UNSUBSCRIBE
c SSUBSCRIBE s t
c SPUBLISH s 1 !
c SUNSUBSCRIBE nix
c SPUBLISH s 1|SUNSUBSCRIBE s|SPUBLISH s 2|GET k !
d PUBSUB SHARDCHANNELS
d PUBSUB SHARDNUMSUB s t u
c SUNSUBSCRIBE
d PUBSUB
d PUBSUB CHANNELS a b
d PUBSUB SHARDCHANNELS a b
d PUBSUB NUMPAT a
d PUBSUB NUMSUB
d PUBSUB SHARDNUMSUB q
d PUBSUB SHARDCHANNELS *
d PUBSUB foo
e SUBSCRIBE
e PUBLISH a
e SPUBLISH a
f PSUBSCRIBE a* b* a*
f SSUBSCRIBE ee
f SUBSCRIBE a [x]
e PUBLISH a 1
e PUBLISH ab 2
e PUBLISH [x] 3
e PUBSUB CHANNELS !
e PUBSUB CHANNELS ? !
e PUBSUB NUMPAT
e PUBSUB NUMSUB a b a
e PUBSUB CHANNELS []
f CLIENT INFO
f UNSUBSCRIBE a|GET k|PUNSUBSCRIBE|GET k !
f SUNSUBSCRIBE|UNSUBSCRIBE|GET k
f SUBSCRIBE a|PSUBSCRIBE *|PING|QUIT|PING
e PUBLISH a 1
g HELLO 3
g PSUBSCRIBE *
g GET k
g PING
g PING x
g SUBSCRIBE a
g HELLO 2
g GET k
e PUBLISH a 1
e CLIENT KILL TYPE master
h SUBSCRIBE h
h RESET
h GET k
`

// A crowd are clients of one server.
type crowd struct {
	t     *testing.T
	addr  func(client string) string
	conns map[string]net.Conn
	order []string

	control *resptest.Conn
}

func newCrowd(t *testing.T, addr func(client string) string) *crowd {
	return &crowd{t: t, addr: addr, conns: make(map[string]net.Conn), control: resptest.Dial(t, addr("a"), 2)}
}

// do has a client send a line, and returns what each client has got once nothing more comes.
func (c *crowd) do(line string, all map[string]string, wanted map[string]int) map[string]string {
	who, what, _ := strings.Cut(line, " ")
	conn := c.conns[who]
	if conn == nil {
		var err error
		if conn, err = net.Dial("tcp", c.addr(who)); err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(func() { _ = conn.Close() })
		c.conns[who] = conn
		c.order = append(c.order, who)
	}
	what = strings.TrimSuffix(what, " !")
	if _, err := fmt.Fprint(conn, strings.ReplaceAll(what, "|", "\r\n"), "\r\n"); err != nil {
		all[who] += "<ended>"
	}
	for _, name := range c.order {
		var buf [4096]byte
		for len(all[name]) < wanted[name] {
			_ = c.conns[name].SetReadDeadline(time.Now().Add(resptest.Patience))
			n, err := c.conns[name].Read(buf[:])
			all[name] += string(buf[:n])
			if err != nil {
				all[name] += fmt.Sprintf("<%v>", err)
				break
			}
		}
	}
	return all
}

// settle reads what has come. The server, of one thread, answers the second PING once it has
// written all that the lines before have brought about.
func (c *crowd) settle(all map[string]string) {
	for range 2 {
		c.control.Do("PING")
	}
	for _, name := range c.order {
		var buf [4096]byte
		for {
			_ = c.conns[name].SetReadDeadline(time.Now().Add(time.Millisecond))
			n, err := c.conns[name].Read(buf[:])
			all[name] += string(buf[:n])
			if err != nil {
				break
			}
		}
	}
}

// TestPubsubAgainstRedis has several clients do the same at both, and compares every byte
// that each of them gets.
func TestPubsubAgainstRedis(t *testing.T) {
	_, own := serveTest(t, nil)
	pubsubAgainst(t, redistest.Start7(t), func(string) string { return own })
}

// Who is connected to which node makes no difference.
func TestPubsubOverNodesAgainstRedis(t *testing.T) {
	r := routedTest(t, 3)
	r.placeAll(r.spread(rand.New(rand.NewPCG(1, 2))))
	pubsubAgainst(t, redistest.Start7(t), func(client string) string { return r.addrs[client[0]%3] })
}

func pubsubAgainst(t *testing.T, oracle string, own func(client string) string) {
	redis, ringside := newCrowd(t, func(string) string { return oracle }), newCrowd(t, own)
	for _, line := range strings.Split(strings.TrimSpace(pubsubScript), "\n") {
		want, got := make(map[string]string), make(map[string]string)
		redis.do(line, want, nil)
		redis.settle(want)
		lens := make(map[string]int)
		for name, text := range want {
			lens[name] = len(text)
		}
		if strings.Contains(line, "HELLO") || strings.Contains(line, "CLIENT INFO") {
			lens = nil // numbers and versions differ
		}
		ringside.do(line, got, lens)
		if lens == nil {
			ringside.settle(got)
			continue
		}
		if strings.HasSuffix(line, "!") {
			for name := range want {
				want[name], got[name] = sortedLines(want[name]), sortedLines(got[name])
			}
		}
		for name := range want {
			if want[name] != got[name] {
				t.Fatalf("%s: client %s\n got %q\nwant %q", line, name, got[name], want[name])
			}
		}
	}
	// Nothing is left that Redis has not sent either.
	rest := make(map[string]string)
	ringside.settle(rest)
	for name, text := range rest {
		if text != "" {
			t.Errorf("client %s got more: %q", name, text)
		}
	}
}

// sortedLines is for replies that come in any order.
func sortedLines(text string) string {
	lines := strings.Split(text, "\r\n")
	slices.Sort(lines)
	return strings.Join(lines, "\r\n")
}
