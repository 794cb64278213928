package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// Orders are requests of a user, who is named by HTTP's basic authentication: they run on a connection of their
// own to the server of the node, after AUTH. So the rights of the user, the audit log and the delay after wrong
// passwords are those of any client at that address. A browser does not send a user by itself to a page of
// another site, and a body of type application/json, which orders must have, not without asking the node first.

// orderable are the subcommands of RING that the page may send, and the command that finds hot keys.
var orderable = []string{"PAUSE", "RESUME", "THROTTLE", "BACKUPS", "BALANCE", "STRATEGY", "SCRUB", "FORGET", "LEAVE", hotKeys}

// hotKeys is a command of its own, not one of RING.
const hotKeys = "HOTKEYS"

// ordersPath is where orders are taken.
const ordersPath = "/api/v1/orders"

const (
	// mostOrder bounds the body of an order, in bytes.
	mostOrder = 4096
	// orderTimeout is how long the node may take for an order: less than the HTTP server allows for an answer.
	orderTimeout = 25 * time.Second
)

// An order is the body of a POST to /api/v1/orders: a command of RING without that word. Without a command it only
// checks the user.
type order struct {
	Command []string `json:"command"`
}

// A reply is the answer to an order: as a text, and the elements of an aggregate as a list without levels.
type reply struct {
	Text   string   `json:"reply"`
	Values []string `json:"values,omitempty"`
}

// A refusal is an answer to a request that did nothing.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string { return r.text }

// serveOrder carries out an order.
func (p *Page) serveOrder(w http.ResponseWriter, r *http.Request) {
	done, err := p.order(w, r)
	var refused *refusal
	switch {
	case err == nil:
		serveJSON(w, done)
	case errors.As(err, &refused):
		if refused.code == http.StatusUnauthorized {
			// Not "Basic": the browser would show a window of its own beside the page's form.
			w.Header().Set("WWW-Authenticate", `xBasic realm="ringside"`)
		}
		http.Error(w, refused.text, refused.code)
	default:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

func (p *Page) order(w http.ResponseWriter, r *http.Request) (*reply, error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return nil, &refusal{http.StatusUnsupportedMediaType, "the content type of an order is application/json"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostOrder))
	var o order
	if err == nil {
		err = json.Unmarshal(body, &o)
	}
	if err != nil {
		return nil, &refusal{http.StatusBadRequest, "malformed order: " + err.Error()}
	}
	command := []string{"PING"}
	if len(o.Command) > 0 {
		if !slices.Contains(orderable, strings.ToUpper(o.Command[0])) {
			return nil, &refusal{http.StatusBadRequest, fmt.Sprintf("%.40q is not an order: use %s", o.Command[0], strings.Join(orderable, ", "))}
		}
		if command = o.Command; !strings.EqualFold(command[0], hotKeys) {
			command = append([]string{"RING"}, command...)
		}
	}
	return p.as(r, command)
}

// Admit reports why a request may not be served to its user, with an HTTP status; 0 if it may. The user must be
// allowed to run INFO. Orders check their user themselves.
func (p *Page) Admit(r *http.Request) (code int, why string) {
	if r.URL.Path == ordersPath {
		return 0, ""
	}
	_, err := p.as(r, []string{"INFO", "server"})
	var refused *refusal
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &refused):
		return refused.code, refused.text
	default:
		return http.StatusServiceUnavailable, err.Error()
	}
}

// as runs a command as the user of a request. An error is a [refusal], or the connection has failed: then the
// command may have run.
func (p *Page) as(r *http.Request, command []string) (*reply, error) {
	user, password, ok := r.BasicAuth()
	switch {
	case !ok:
		return nil, &refusal{http.StatusUnauthorized, "log in as a user of the cluster"}
	case !p.cfg.NeedsPassword(user):
		return nil, &refusal{http.StatusForbidden, fmt.Sprintf("%.60q needs no password: only a user with a password may log in here", user)}
	}
	ctx, cancel := context.WithTimeout(r.Context(), orderTimeout)
	defer cancel()
	conn, err := p.cfg.Dial(ctx, clientAddr(r.RemoteAddr))
	if err != nil {
		return nil, fmt.Errorf("connect to the node: %w", err)
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	replies := wire.NewReplyReader(conn)
	replies.Flat = true
	ask := func(words ...string) (*reply, error) {
		if _, err := conn.Write(wire.AppendRequest(nil, words...)); err != nil {
			return nil, err
		}
		got, err := replies.Read()
		if err != nil {
			return nil, err
		}
		a := new(reply)
		for _, v := range got.Values {
			a.Values = append(a.Values, string(v))
		}
		a.Text, err = got.Joined()
		return a, err
	}
	code := http.StatusUnauthorized
	done, err := ask("AUTH", user, password)
	if err == nil {
		code = http.StatusConflict
		done, err = ask(command...)
	}
	var replied wire.ReplyError
	switch {
	case err == nil:
		return done, nil
	case !errors.As(err, &replied):
		return nil, fmt.Errorf("the node has not replied: %w", errors.Join(err, ctx.Err()))
	case strings.HasPrefix(string(replied), "NOPERM "):
		code = http.StatusForbidden
	}
	return nil, &refusal{code, string(replied)}
}

// clientAddr is the address of an HTTP client, under which the server knows its connection.
func clientAddr(text string) net.Addr {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return net.TCPAddrFromAddrPort(at)
	}
	return &net.TCPAddr{}
}
