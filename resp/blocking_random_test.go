package resp

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// A member is one of many clients that may wait: one of a real Redis, one of Ringside.
type member struct {
	conns   [2]*resptest.Conn
	ids     [2]string
	replies [2]chan resptest.Value
	blocked bool
}

// A gathering is many members, of whom each does one thing after the other.
type gathering struct {
	t       *testing.T
	admins  [2]*resptest.Conn
	members []*member
	sent    []string
}

func newGathering(d *differ, n int) *gathering {
	g := &gathering{t: d.t, admins: [2]*resptest.Conn{d.redis, d.ours}}
	for range n {
		m := &member{}
		for s, admin := range g.admins {
			o := resptest.Dial(d.t, admin.C.RemoteAddr().String(), d.proto)
			m.conns[s], m.ids[s], m.replies[s] = o, o.Do("CLIENT", "ID").Text, make(chan resptest.Value, 16)
			_ = o.C.SetDeadline(time.Time{})
			go func() {
				for {
					v, err := o.Read()
					if err != nil {
						return
					}
					m.replies[s] <- v
				}
			}()
		}
		g.members = append(g.members, m)
	}
	return g
}

// do has a member send a command, and compares who is answered, and with what.
func (g *gathering) do(i int, words ...string) {
	g.t.Helper()
	g.sent = append(g.sent, fmt.Sprintf("%d: %s", i, quote(words)))
	m := g.members[i]
	for _, o := range m.conns {
		resptest.Write(o.C, words...)
	}
	if want, ok := g.first(m); ok {
		g.same(i, want)
	} else {
		m.blocked = true
	}
	// Those whom it has served.
	waiting := 0
	for _, m := range g.members {
		if m.blocked {
			waiting++
		}
	}
	left := g.count()
	for end := time.Now().Add(resptest.Patience); waiting > left; {
		for i, m := range g.members {
			select {
			case want := <-m.replies[0]:
				m.blocked = false
				waiting--
				g.same(i, want)
			default:
			}
		}
		if time.Now().After(end) {
			g.fails("Redis has served somebody who was not answered")
		}
	}
	awaitBlocked(g.t, g.admins[1], left)
}

// first is the reply of the real Redis to a member, unless that waits.
func (g *gathering) first(m *member) (resptest.Value, bool) {
	g.t.Helper()
	for end := time.Now().Add(resptest.Patience); ; {
		select {
		case v := <-m.replies[0]:
			return v, true
		case <-time.After(200 * time.Microsecond):
		}
		if strings.Contains(g.admins[0].Do("CLIENT", "LIST", "ID", m.ids[0]).Text, " flags=b ") {
			return resptest.Value{}, false
		}
		if time.Now().After(end) {
			g.fails("no reply")
		}
	}
}

func (g *gathering) same(i int, want resptest.Value) {
	g.t.Helper()
	select {
	case got := <-g.members[i].replies[1]:
		if got.String() != want.String() {
			g.fails(fmt.Sprintf("client %d got %s, want %s", i, got, want))
		}
	case <-time.After(resptest.Patience):
		g.fails(fmt.Sprintf("client %d got nothing, want %s", i, want))
	}
}

func (g *gathering) fails(text string) {
	g.t.Helper()
	g.t.Fatalf("%s after\n%s", text, strings.Join(g.sent, "\n"))
}

func (g *gathering) count() int { return g.admins[0].InfoField("blocked_clients", "INFO", "clients") }

// Whoever waits, for whichever keys, is served as by Redis, in its order.
func TestRandomBlockingAsRedis(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	rounds := randomtest.Length(400, 100)
	differential(t, func(d *differ) {
		g := newGathering(d, 12)
		// Redis before 7.2 serves a client from the key that was written first, not from the first of its arguments.
		oneKey := strings.Contains(d.redis.Do("INFO", "server").Text, "redis_version:7.0.")
		for n := range rounds {
			i := rnd.IntN(len(g.members))
			if g.members[i].blocked {
				if rnd.IntN(10) == 0 {
					for s, admin := range g.admins {
						admin.Do("CLIENT", "UNBLOCK", g.members[i].ids[s], []string{"TIMEOUT", "ERROR"}[n%2])
					}
					g.members[i].blocked = false
					g.sent = append(g.sent, fmt.Sprint("unblock ", i))
					g.same(i, <-g.members[i].replies[0])
				}
				continue
			}
			words := randomBlocking(rnd, n)
			switch {
			case oneKey && words[0] == "BRPOP":
				words[2], words[3] = words[1], words[1]
			case oneKey && words[0] == "BLMPOP":
				words[4] = words[3]
			}
			g.do(i, words...)
		}
	})
}

func randomBlocking(rnd *rand.Rand, n int) []string {
	key := func() string { return string(rune('a' + rnd.IntN(4))) }
	side := func() string { return []string{"LEFT", "RIGHT"}[rnd.IntN(2)] }
	elements := func() (list []string) {
		for i := range 1 + rnd.IntN(4) {
			list = append(list, fmt.Sprintf("%d.%d", n, i))
		}
		return list
	}
	switch rnd.IntN(16) {
	case 0, 1:
		return []string{"BLPOP", key(), "0"}
	case 2:
		return []string{"BRPOP", key(), key(), key(), "0"}
	case 3, 4:
		return []string{"BLMOVE", key(), key(), side(), side(), "0"}
	case 5:
		return []string{"BRPOPLPUSH", key(), key(), "0"}
	case 6:
		return []string{"BLMPOP", "0", "2", key(), key(), side(), "COUNT", strconv.Itoa(1 + rnd.IntN(4))}
	case 7:
		return []string{"LMOVE", key(), key(), side(), side()}
	case 8:
		return []string{"RENAME", key(), key()}
	case 9:
		return []string{"LPOP", key(), strconv.Itoa(rnd.IntN(4))}
	case 10:
		return []string{"DEL", key(), key()}
	case 11:
		return []string{"COPY", key(), key(), "REPLACE"}
	case 12:
		if rnd.IntN(4) == 0 {
			return []string{"SET", key(), "text"}
		}
		return []string{"LRANGE", key(), "0", "-1"}
	case 13:
		return append([]string{"RPUSH", key()}, elements()...)
	default:
		return append([]string{"LPUSH", key()}, elements()...)
	}
}
