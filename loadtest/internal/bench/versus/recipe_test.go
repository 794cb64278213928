package main

import (
	"bytes"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// fakeLoad is a load for a recipe on a fake server.
func fakeLoad(addr, command string) load {
	return load{addr: addr, command: command, valueSize: 3, pipeline: 16, requests: 512, clients: 3, keys: 1000}
}

// Every command finds what it needs, to the last one.
func TestRecipesFindTheirData(t *testing.T) {
	addr := listenFake(t)
	for i := range recipes {
		r := &recipes[i]
		l := fakeLoad(addr, r.command)
		for round := range 2 { // the second finds what the first has left
			if err := r.prepare(t.Context(), l); err != nil {
				t.Fatalf("%s: %v", r.command, err)
			}
			d := duel{driver: ownDriver{}}
			if _, err := d.drive(t.Context(), r, l); err != nil {
				t.Errorf("%s, round %d: %v", r.command, round, err)
			}
		}
	}
}

func TestRecipeRunsEmpty(t *testing.T) {
	r := recipeFor("SPOP")
	l := fakeLoad(listenFake(t), r.command)
	if err := r.prepare(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	l.requests += l.clients * l.pipeline
	if _, err := (&duel{driver: ownDriver{}}).drive(t.Context(), r, l); !errors.Is(err, errRanEmpty) {
		t.Errorf("the error is %v", err)
	}
}

func TestRecipesHaveNoNameTwice(t *testing.T) {
	var names []string
	for _, r := range recipes {
		if slices.Contains(names, r.command) || r.share <= 0 || r.minRatio <= 0 {
			t.Errorf("%+v", r)
		}
		names = append(names, r.command)
		if args := r.with("xyz"); slices.Contains(args, payload) || len(args) != len(r.args) {
			t.Errorf("%s: %q", r.command, args)
		}
	}
}

// fakeAudience is one listener of messages 'news' "xyz", and the server's end of it.
func fakeAudience(t *testing.T) (*audience, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = resptest.NewRequests(c).Next() // else closing resets
		}
		if err == nil {
			_, err = c.Write([]byte("*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"))
		}
		if err != nil {
			t.Error(err)
		}
		far <- c
	}()
	a, err := gather(t.Context(), l.Addr().String(), "news", "xyz", 1)
	t.Cleanup(a.dismiss)
	c := <-far
	t.Cleanup(func() { c.Close() })
	if err != nil {
		t.Fatal(err)
	}
	return a, c
}

func TestAudienceComparesMessages(t *testing.T) {
	const message = "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$3\r\nxyz\r\n"
	for _, tt := range []struct {
		name, sent string
		want       error
	}{
		{"all", strings.Repeat(message, 5000), nil},
		{"one too many", strings.Repeat(message, 5001), errOtherMessage},
		{"another one", strings.Repeat(message, 4999) + strings.Replace(message, "xyz", "xyy", 1), errOtherMessage},
	} {
		a, far := fakeAudience(t)
		if _, err := far.Write([]byte(tt.sent)); err != nil {
			t.Fatal(err)
		}
		far.Close()
		a.done.Wait() // whatever was sent has been read
		if err := a.await(t.Context(), 5000); !errors.Is(err, tt.want) {
			t.Errorf("%s: the error is %v", tt.name, err)
		}
	}
}

func TestAudienceMissesMessages(t *testing.T) {
	a, far := fakeAudience(t)
	if _, err := far.Write(a.message); err != nil {
		t.Fatal(err)
	}
	far.Close()
	if err := a.await(t.Context(), 2); err == nil {
		t.Error("one message of two is enough")
	}
}

// An array is skipped with all that it holds, and the next reply is the next one.
func TestReplyPassesOverArrays(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		defer far.Close()
		_, _ = far.Write([]byte("*3\r\n$1\r\nx\r\n*2\r\n:1\r\n$-1\r\n*0\r\n$4\r\nlast\r\n*-1\r\n-no\r\n"))
	}()
	c := newConn(near)
	for _, want := range []string{"", "last", ""} {
		if reply, err := c.reply(); err != nil || string(reply.Text) != want {
			t.Errorf("%q and %v, want %q", reply.Text, err, want)
		}
	}
	if _, err := c.reply(); err == nil {
		t.Error("an error is no error")
	}
}

func TestRowsOfLongNames(t *testing.T) {
	r := newWorkloadResult(workload{command: "HGETALL_1000", pipeline: 16, minRatio: 0.5, maxP99: 4})
	r.Ringside, r.Redis = []sample{{figures: figures{5000, 100, 200}}}, []sample{{figures: figures{8000, 80, 100}}}
	r.summarize()
	var out bytes.Buffer
	printRow(&out, r)
	r.Redis = nil
	printRow(&out, r)
	const want = `
HGETALL  Ringside     5.0  0.62  0.62–0.62  100.0  200.0     -  ≥ 0.50 reached
of 1000  Redis        8.0                   80.00  100.0     -  p99 ≤ 4× reached
HGETALL  Ringside     5.0  0.62  0.62–0.62  100.0  200.0     -  ≥ 0.50 reached
of 1000
`
	if got := "\n" + out.String(); got != want {
		t.Errorf("the rows are%swant%s", got, want)
	}
}
