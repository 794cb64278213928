package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A fakeNode replies to commands; none of its users but open needs no password.
type fakeNode struct {
	mu       sync.Mutex
	commands []string
	// reply is what the node replies to a command, as sent; without one it is silent.
	reply map[string]string
}

func (n *fakeNode) config() Config {
	return Config{
		Status:        func(context.Context) (*status.Report, error) { return report(), nil },
		Dial:          func(context.Context, net.Addr) (net.Conn, error) { return n.dial(), nil },
		NeedsPassword: func(user string) bool { return user != "open" },
	}
}

func (n *fakeNode) dial() net.Conn {
	near, far := net.Pipe()
	go func() {
		defer func() { _ = far.Close() }()
		requests := wire.NewReplyReader(far) // a request has the form of a reply
		for {
			request, err := requests.Read()
			if err != nil {
				return
			}
			command, _ := request.Joined()
			n.mu.Lock()
			n.commands = append(n.commands, command)
			n.mu.Unlock()
			if _, err := io.WriteString(far, n.reply[command]); err != nil {
				return
			}
		}
	}()
	return near
}

// sent are the commands but those of logging in.
func (n *fakeNode) sent() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.commands), func(c string) bool { return strings.HasPrefix(c, "AUTH,") || c == "PING" })
}

// postOrder sends an order as ada, and returns the status and the body.
func postOrder(p *Page, ctx context.Context, words string) string {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, ordersPath, strings.NewReader(`{"command": `+words+`}`))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.RemoteAddr = "10.0.0.7:4711"
	r.SetBasicAuth("ada", "secret")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return fmt.Sprint(w.Code, " ", strings.TrimSpace(w.Body.String()))
}

func TestOrdersAreSentToTheNode(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		n := &fakeNode{reply: map[string]string{
			"AUTH,ada,secret": "+OK\r\n", "PING": "+PONG\r\n", "RING,balance,load,on": "$4\r\ndone\r\n", "RING,LEAVE": "-ERR not now\r\n",
			"RING,PAUSE": "-NOPERM this user\r\n", "RING,RESUME": "no reply\r\n",
		}}
		cfg := n.config()
		refuses := false
		cfg.Dial = func(_ context.Context, from net.Addr) (net.Conn, error) {
			if from.String() != "10.0.0.7:4711" {
				t.Errorf("an order comes from %v", from)
			}
			if refuses {
				return nil, errors.New("too many")
			}
			return n.dial(), nil
		}
		p := New(quiet(cfg))
		defer p.Close()
		for words, want := range map[string]string{
			`[]`:                         `200 {"reply":"PONG"}`,
			`["balance", "load", "on"]`:  `200 {"reply":"done"}`,
			`["LEAVE"]`:                  "409 ERR not now",
			`["PAUSE"]`:                  "403 NOPERM this user",
			`["RESUME"]`:                 "503 the node has not replied: ",
			`["THROTTLE", "1"]`:          "503 the node has not replied: ", // it is silent
			`["SET", "k", "v"]`:          `400 "SET" is not an order`,
			`["PAUSE\r\nSET", "k", "v"]`: `400 "PAUSE\r\nSET" is not an order`,
		} {
			if got := postOrder(p, t.Context(), words); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s, want %s", words, got, want)
			}
		}
		want := []string{"RING,LEAVE", "RING,PAUSE", "RING,RESUME", "RING,THROTTLE,1", "RING,balance,load,on"}
		if got := n.sent(); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("sent %q, want %q", got, want)
		}
		refuses = true
		if got := postOrder(p, t.Context(), `[]`); got != "503 connect to the node: too many" {
			t.Error(got)
		}
	})
}
