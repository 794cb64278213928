package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/uber-go/tally/v4"
)

// Modes of a connection, for Config.Route.
const (
	// Forward: a node answers for any key, and asks the one that has it.
	Forward = "forward"
	// Redirect: a node that does not have a key says who does, and the Ring goes
	// there.
	Redirect = "redirect"
)

// Config says which cluster a Ring speaks to, and how. Only Addrs must be given.
type Config struct {
	// Addrs are where some of the nodes listen for clients, host:port. One that
	// answers is enough: the others are learnt from it.
	Addrs []string
	// Username and Password log in. Without a user name it is the default user.
	Username, Password string
	// Database is the number of the database in which all commands work; default 0.
	Database int
	// TLS, if not nil, encrypts. Where it has no ServerName, that is the host of the
	// address which is dialled.
	TLS *tls.Config
	// Name is what CLIENT LIST shows for the connections; default ringside-client.
	Name string
	// Route is Forward or Redirect, or empty for what each node does by itself. It
	// decides what happens when a command comes to a node that does not serve its
	// key any more, and whether commands on all keys (DBSIZE, SCAN, KEYS) cover the
	// cluster or only one node.
	//
	// A redirect is followed only to an address that the placement names. With Forward none
	// is followed: the placement is fetched again instead.
	//
	// A script that may write (EVAL, EVALSHA, FCALL) is sent once: with Redirect, its MOVED
	// is the caller's to follow, since a script can make up such an error itself. MOVED of
	// one that only reads is followed a few times, and changes nothing for other commands.
	Route string
	// RESP2 keeps to the old protocol, where the new one is the default.
	RESP2 bool

	// Conns is how many connections to each node share the load; default 2.
	Conns int
	// DialTimeout bounds one attempt to connect and log in; default 5 s.
	DialTimeout time.Duration
	// Timeout is how long a node may be silent while replies are due, or take nothing
	// of what is sent, before a connection is given up; default 10 s. A context with
	// a deadline bounds a single call.
	Timeout time.Duration
	// RetryFor is how long a command that has certainly not been executed, or only
	// reads, is tried again, unless its context ends before; default 10 s. The error reply
	// to a script that may write proves nothing, so that is not sent again.
	RetryFor time.Duration
	// MinBackoff and MaxBackoff bound the pauses between attempts, which double from
	// one to the next; default 5 ms and 1 s.
	MinBackoff, MaxBackoff time.Duration
	// Poll is how often the placement is compared with the node's that pushes its
	// changes; default 2 s.
	Poll time.Duration

	// MaxInFlight bounds the bytes of commands on one connection that have no reply;
	// default 16 MiB. What is beyond waits in its caller's memory, and one pipeline
	// always fits.
	MaxInFlight int
	// MaxReply bounds the memory that one reply takes, in bytes; default 1 GiB. A
	// larger one ends its connection.
	MaxReply int64

	// Dial connects to an address; nil is TCP. It must heed its context.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// Logger hears when nodes and placements are lost and found; nil discards.
	Logger *slog.Logger
	// Metrics takes counts of what the Ring does; nil discards.
	Metrics tally.Scope
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Name == "" {
		c.Name = "ringside-client"
	}
	setDefault(&c.Conns, 2)
	setDefault(&c.DialTimeout, 5*time.Second)
	setDefault(&c.Timeout, 10*time.Second)
	setDefault(&c.RetryFor, 10*time.Second)
	setDefault(&c.MinBackoff, 5*time.Millisecond)
	setDefault(&c.MaxBackoff, max(time.Second, c.MinBackoff))
	setDefault(&c.Poll, 2*time.Second)
	setDefault(&c.MaxInFlight, 16<<20)
	setDefault(&c.MaxReply, 1<<30)
	if c.Dial == nil {
		var d net.Dialer
		c.Dial = func(ctx context.Context, addr string) (net.Conn, error) { return d.DialContext(ctx, "tcp", addr) }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = tally.NoopScope
	}
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf("client: "+format, args...)) }
	if len(c.Addrs) == 0 {
		fault("no address of a node")
	}
	for _, addr := range c.Addrs {
		if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
			fault("%q is not an address of the form host:port", addr)
		}
	}
	if c.Username != "" && c.Password == "" {
		fault("a user name without a password")
	}
	if c.Route != "" && c.Route != Forward && c.Route != Redirect {
		fault("route %q is neither %s nor %s", c.Route, Forward, Redirect)
	}
	if c.Database < 0 {
		fault("database %d is below 0", c.Database)
	}
	if c.Conns < 1 || c.Conns > 1024 {
		fault("%d connections to a node are not between 1 and 1024", c.Conns)
	}
	for _, t := range []struct {
		name  string
		value time.Duration
	}{{"dial time-out", c.DialTimeout}, {"time-out", c.Timeout}, {"time for retries", c.RetryFor}, {"time between polls", c.Poll}} {
		if t.value <= 0 {
			fault("the %s %s is not above 0", t.name, t.value)
		}
	}
	if c.MinBackoff <= 0 || c.MaxBackoff < c.MinBackoff {
		fault("pauses from %s to %s between attempts", c.MinBackoff, c.MaxBackoff)
	}
	if c.MaxInFlight < 1 {
		fault("%d bytes in flight are fewer than 1", c.MaxInFlight)
	}
	if c.MaxReply < 1<<10 {
		fault("replies of at most %d bytes are fewer than 1024", c.MaxReply)
	}
	return errors.Join(errs...)
}
