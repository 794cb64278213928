package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"go.uber.org/goleak"
)

// TestMain makes the test binary a server when a test starts it so.
func TestMain(m *testing.M) {
	if os.Getenv("RINGSIDE_TEST_AS_SERVER") != "" {
		os.Exit(fakeProcess(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// fakeProcess takes the arguments of ringside serve.
func fakeProcess(args []string) int {
	if len(args) < 3 || args[0] != "serve" || args[1] != "--addr" {
		fmt.Fprintln(os.Stderr, "not the arguments of serve")
		return 2
	}
	if os.Getenv("RINGSIDE_TEST_AS_SERVER") == "broken" {
		fmt.Fprintln(os.Stderr, "the disk is on fire")
		return 1
	}
	l, err := net.Listen("tcp", args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go fakeServe(l)
	<-signals
	return 0
}

// fakeServe answers the few commands of the loads until l is closed.
func fakeServe(l net.Listener) {
	f := newFakeStore()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go f.serve(c)
	}
}

// fakeStore counts elements and knows none of them.
type fakeStore struct {
	mu        sync.Mutex
	values    map[string]string
	elements  map[string]int
	listeners map[*fakeConn]struct{}
}

func newFakeStore() *fakeStore {
	return &fakeStore{values: map[string]string{}, elements: map[string]int{}, listeners: map[*fakeConn]struct{}{}}
}

type fakeConn struct {
	mu sync.Mutex
	w  *bufio.Writer
}

func (c *fakeConn) write(text string, flush bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.w.WriteString(text); err != nil || !flush {
		return err
	}
	return c.w.Flush()
}

func (f *fakeStore) serve(c net.Conn) {
	defer c.Close()
	r, conn := resptest.NewRequests(c), &fakeConn{w: bufio.NewWriter(c)}
	for {
		args, err := r.Next()
		if err != nil {
			return
		}
		reply := f.answer(args)
		if args[0] == "SUBSCRIBE" {
			f.mu.Lock()
			f.listeners[conn] = struct{}{}
			f.mu.Unlock()
			defer func() {
				f.mu.Lock()
				defer f.mu.Unlock()
				delete(f.listeners, conn)
			}()
		}
		if conn.write(reply, r.Buffered() == 0) != nil {
			return
		}
	}
}

func (f *fakeStore) answer(args []string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch args[0] {
	case "PING":
		return "+PONG\r\n"
	case "INFO":
		return resptest.Bulk(fmt.Sprintf("process_id:%d\r\n", os.Getpid()))
	case "SET", "MSET":
		for i := 1; i+1 < len(args); i += 2 {
			f.values[args[i]] = args[i+1]
		}
		return "+OK\r\n"
	case "GET":
		if v, ok := f.values[args[1]]; ok {
			return resptest.Bulk(v)
		}
		return "$-1\r\n"
	case "INCR":
		n, _ := strconv.Atoi(f.values[args[1]])
		f.values[args[1]] = strconv.Itoa(n + 1)
		return fmt.Sprintf(":%d\r\n", n+1)
	case "EVAL":
		return resptest.Bulk(args[4])
	case "SUBSCRIBE":
		return "*3\r\n" + resptest.Bulk("subscribe") + resptest.Bulk(args[1]) + ":1\r\n"
	case "PUBLISH":
		for c := range f.listeners {
			_ = c.write("*3\r\n"+resptest.Bulk("message")+resptest.Bulk(args[1])+resptest.Bulk(args[2]), true)
		}
		return fmt.Sprintf(":%d\r\n", len(f.listeners))
	}
	return f.collection(args)
}

func (f *fakeStore) collection(args []string) string {
	n := f.elements[args[1]]
	each := 1 // arguments for an element
	switch args[0] {
	case "DEL":
		delete(f.elements, args[1])
	case "HSET", "ZADD":
		each = 2
		fallthrough
	case "LPUSH", "RPUSH", "SADD":
		f.elements[args[1]] = n + (len(args)-2)/each
	case "LPOP", "RPOP", "SPOP", "ZPOPMIN":
		if n == 0 {
			return "$-1\r\n"
		}
		f.elements[args[1]] = n - 1
		return resptest.Bulk("x")
	case "XADD":
		f.elements[args[1]] = n + 1
		return resptest.Bulk(args[2])
	case "HSCAN":
		return "*2\r\n" + resptest.Bulk("0") + "*1\r\n" + resptest.Bulk("x")
	case "HGET", "ZSCORE", "LINDEX":
		return resptest.Bulk("x")
	case "LRANGE", "HGETALL", "ZRANGE", "XRANGE":
		return "*2\r\n" + resptest.Bulk("x") + "*1\r\n$-1\r\n"
	case "LLEN", "SCARD", "ZCARD", "HLEN", "ZRANK", "SISMEMBER":
	default:
		return "-ERR unknown command\r\n"
	}
	return fmt.Sprintf(":%d\r\n", f.elements[args[1]])
}
