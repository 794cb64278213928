package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"testing"

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
	f := &fakeStore{values: map[string]string{}}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go f.serve(c)
	}
}

type fakeStore struct {
	mu     sync.Mutex
	values map[string]string
}

func (f *fakeStore) serve(c net.Conn) {
	defer c.Close()
	r, w := bufio.NewReader(c), bufio.NewWriter(c)
	for {
		args, err := readCommand(r)
		if err != nil {
			return
		}
		io.WriteString(w, f.answer(args))
		if r.Buffered() == 0 && w.Flush() != nil {
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
		return bulk(fmt.Sprintf("process_id:%d\r\n", os.Getpid()))
	case "SET", "MSET":
		for i := 1; i+1 < len(args); i += 2 {
			f.values[args[i]] = args[i+1]
		}
		return "+OK\r\n"
	case "GET":
		if v, ok := f.values[args[1]]; ok {
			return bulk(v)
		}
		return "$-1\r\n"
	case "INCR":
		n, _ := strconv.Atoi(f.values[args[1]])
		f.values[args[1]] = strconv.Itoa(n + 1)
		return fmt.Sprintf(":%d\r\n", n+1)
	}
	return "-ERR unknown command\r\n"
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

func readCommand(r *bufio.Reader) ([]string, error) {
	var n int
	if _, err := fmt.Fscanf(r, "*%d\r\n", &n); err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		var size int
		if _, err := fmt.Fscanf(r, "$%d\r\n", &size); err != nil {
			return nil, err
		}
		buf := make([]byte, size+2)
		if _, err := io.ReadFull(r, buf); err != nil {
			return nil, err
		}
		args[i] = string(buf[:size])
	}
	return args, nil
}
