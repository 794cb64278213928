package client

import (
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// The client of Redis Cluster leaves this one behind, which ends after a while.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1"))
}

// A fake is a server with keys in memory, whose connections misbehave as they are told.
type fake struct {
	addr string
	// answer, if not nil, may give another reply than the right one, "" for none at all,
	// and false to close the connection. It is called before the command is executed, and
	// nothing is executed if there is another reply.
	answer func(conn int, args []string) (reply string, other, ok bool)
	// cut, if not nil, is after how many bytes of replies a connection ends; -1 is never.
	cut func(conn int) int
	// notices tells that connections can ask for notices of maintenance; else, hangsUp that they are then closed.
	notices, hangsUp bool
	// tls, if not nil, encrypts.
	tls *tls.Config

	mu     sync.Mutex
	values map[string]string
	seen   [][][]string // the commands of each connection
	writes map[string]int
}

func newFake(t testing.TB, f *fake) *fake {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = listener.Addr().String()
	f.values, f.writes = map[string]string{}, map[string]int{}
	var next atomic.Int64
	resptest.Serve(t, listener, func(c net.Conn) {
		n := int(next.Add(1)) - 1
		f.mu.Lock()
		for len(f.seen) <= n {
			f.seen = append(f.seen, nil)
		}
		f.mu.Unlock()
		if f.tls != nil {
			c = tls.Server(c, f.tls)
		}
		f.serve(c, n)
	})
	return f
}

func (f *fake) serve(c net.Conn, n int) {
	defer c.Close()
	left := -1
	if f.cut != nil {
		left = f.cut(n)
	}
	in := resptest.NewRequests(c)
	for {
		args, err := in.Next()
		if err != nil {
			return
		}
		if args[0] == "HELLO" || args[0] == "CLIENT" {
			if f.hangsUp {
				return
			}
			reply := "-ERR unknown command\r\n"
			if f.notices {
				reply = "+OK\r\n"
			}
			_, _ = c.Write([]byte(reply))
			continue
		}
		reply := ""
		other, ok := false, true
		if f.answer != nil {
			reply, other, ok = f.answer(n, args)
		}
		if !ok {
			return
		}
		if !other {
			reply = f.do(n, args)
		}
		if left >= 0 && len(reply) >= left {
			_, _ = c.Write([]byte(reply[:left]))
			return
		}
		if left >= 0 {
			left -= len(reply)
		}
		if _, err := c.Write([]byte(reply)); err != nil {
			return
		}
	}
}

func (f *fake) do(n int, args []string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[n] = append(f.seen[n], args)
	switch args[0] {
	case "GET":
		return bulk(f.values, args[1])
	case "MGET":
		reply := fmt.Sprintf("*%d\r\n", len(args)-1)
		for _, key := range args[1:] {
			reply += bulk(f.values, key)
		}
		return reply
	case "SET":
		f.values[args[1]] = args[2]
		f.writes[args[2]]++
		return "+OK\r\n"
	case "INCR":
		n, _ := strconv.Atoi(f.values[args[1]])
		f.values[args[1]] = strconv.Itoa(n + 1)
		return fmt.Sprintf(":%d\r\n", n+1)
	}
	return "-ERR unknown command\r\n"
}

func bulk(values map[string]string, key string) string {
	v, ok := values[key]
	if !ok {
		return "$-1\r\n"
	}
	return resptest.Bulk(v)
}

// commands are what each connection has asked for.
func (f *fake) commands() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, c := range f.seen {
		var lines []string
		for _, args := range c {
			lines = append(lines, strings.Join(args, " "))
		}
		all = append(all, strings.Join(lines, "\n"))
	}
	return all
}
