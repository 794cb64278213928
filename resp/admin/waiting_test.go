package admin

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// TestOldestSilentConnectionMakesRoom has more connections than there may be, none of which ends
// its request. One whose request is being answered stays.
func TestOldestSilentConnectionMakesRoom(t *testing.T) {
	defer goleak.VerifyNone(t)
	fakenet.Bubble(t, func(t *testing.T) {
		network := fakenet.New(1, time.Millisecond, 0)
		l, err := network.Host("10.0.0.1").Listen("10.0.0.1:80")
		if err != nil {
			t.Fatal(err)
		}
		answer := make(chan struct{})
		_, stop := serveOn(t, l, Config{Pages: []Page{{Path: "/slow", Title: "waits", Handler: http.HandlerFunc(
			func(http.ResponseWriter, *http.Request) { <-answer })}}})
		defer stop()
		send := func(text string) net.Conn {
			c, err := network.Host("10.0.0.2").Dial(t.Context(), "10.0.0.1:80")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			_, _ = io.WriteString(c, text)
			return c
		}
		status := func(c net.Conn) int {
			r, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Error(err)
				return 0
			}
			return r.StatusCode
		}
		slow := send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
		synctest.Wait()
		for i := range 2 * maxConns {
			send([]string{"", "GET /liv"}[i%2])
		}
		if got := status(send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")); got != http.StatusOK {
			t.Errorf("beside silent connections: %d", got)
		}
		close(answer)
		if got := status(slow); got != http.StatusOK {
			t.Errorf("the request that was being answered: %d", got)
		}
	})
}

// TestHealthChecksAreAnsweredBesideSlowClients has as many connections as there may be whose requests do not end: their
// bodies do not come, or their answers are not read.
func TestHealthChecksAreAnsweredBesideSlowClients(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, text := range map[string]string{
		"no body":          "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
		"no end of a body": "POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
		"an answer":        "GET /large HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			fakenet.Bubble(t, func(t *testing.T) {
				network := fakenet.New(1, time.Millisecond, 0)
				l, err := network.Host("10.0.0.1").Listen("10.0.0.1:80")
				if err != nil {
					t.Fatal(err)
				}
				large := make([]byte, 16<<20)
				_, stop := serveOn(t, l, Config{Pages: []Page{
					{Path: "/read", Title: "reads", Post: true, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })},
					{Path: "/large", Title: "writes", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) })},
				}})
				defer stop()
				var open []net.Conn
				defer func() { // before the server, which would wait for them
					for _, c := range open {
						c.Close()
					}
					synctest.Wait()
				}()
				dial := func(text string) net.Conn {
					c, err := network.Host("10.0.0.2").Dial(t.Context(), "10.0.0.1:80")
					if err != nil {
						t.Fatal(err)
					}
					open = append(open, c)
					_, _ = io.WriteString(c, text)
					return c
				}
				for range maxConns {
					dial(text)
				}
				synctest.Wait()
				for range 3 {
					r, err := http.ReadResponse(bufio.NewReader(dial("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")), nil)
					if err != nil || r.StatusCode != http.StatusOK {
						t.Errorf("%v, %v", r, err)
					}
				}
			})
		})
	}
}
