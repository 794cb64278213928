package client

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/check"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

// A Route is the way by which commands get to the node that has their key.
type Route uint8

const (
	// One: all clients ask the first node, as an application asks its sidecar.
	One Route = iota
	// Any: clients spread over all nodes.
	Any
	// Ring: Ringside's routing client, which all clients share.
	Ring
	// Cluster: a client of Redis Cluster, which all clients share.
	Cluster
)

var routes = []string{One: "one", Any: "any", Ring: "ring", Cluster: "cluster"}

// String is the word for a route.
func (r Route) String() string {
	if int(r) < len(routes) {
		return routes[r]
	}
	return fmt.Sprintf("route %d", r)
}

// ParseRoute reads the word for a route.
func ParseRoute(text string) (Route, error) {
	if i := slices.Index(routes, text); i >= 0 {
		return Route(i), nil
	}
	return 0, fmt.Errorf("route %.40q: want one, any, ring or cluster", text)
}

const (
	// MaxPipeline is the most operations that a connection may have in flight.
	MaxPipeline = 10_000
	// maxFillers is how many connections fill at a time.
	maxFillers = 16
)

// A Config says what clients do, and with whom.
type Config struct {
	// Workload is what they ask for. It has as many clients as there are connections.
	Workload workload.Config
	// Targets are the addresses where clients may connect now. It is called by any
	// goroutine, whenever a connection is made.
	Targets func() []string
	// Route is the way of commands.
	Route Route
	// Pipeline is how many operations a client has in flight at most; default 1. In a
	// closed loop so many are sent, and then all answers are awaited.
	Pipeline int
	// Think is the pause after each answer, or each pipeline of them, in a closed loop.
	Think time.Duration
	// Username and Password log in. Without a user name it is the default user.
	Username, Password string
	// TLS, if not nil, encrypts. Where it has no ServerName, that is the host of the
	// address.
	TLS *tls.Config
	// Timeout is for how long an operation is waited for; up to an eighth longer now and
	// then. Default 10 s.
	Timeout time.Duration
	// Window is the length of the windows of the figures; default 100 ms.
	Window time.Duration
	// Check judges the answers; nil is nobody. It knows of [Config.Writers] clients.
	Check *check.Model
}

// Writers is how many clients stamp what they write: those of the workload, and those of
// [Load.Fill].
func (c *Config) Writers() int { return c.Workload.Clients + maxFillers }

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	c.Pipeline = cmp.Or(c.Pipeline, 1)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.Window = cmp.Or(c.Window, 100*time.Millisecond)
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	faults := []error{c.Workload.Validate()}
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("client: "+format, args...)) }
	if c.Targets == nil {
		fault("no targets")
	}
	if c.Route > Cluster {
		fault("%s is unknown", c.Route)
	}
	if c.Pipeline < 1 || c.Pipeline > MaxPipeline {
		fault("a pipeline of %d is not within 1..%d", c.Pipeline, MaxPipeline)
	}
	if c.Think < 0 {
		fault("a pause of %s is below 0", c.Think)
	}
	if c.Think > 0 && c.Workload.Rate.Open() {
		fault("a pause of %s between operations contradicts a rate", c.Think)
	}
	if c.Username != "" && c.Password == "" {
		fault("a user name without a password")
	}
	if c.Timeout < time.Millisecond {
		fault("a time-out of %s is below 1ms", c.Timeout)
	}
	if c.Window < time.Millisecond || c.Window > time.Hour {
		fault("a window of %s is not between 1ms and 1h", c.Window)
	}
	if c.Check != nil && !c.Workload.Stamped {
		fault("values that are verified must be stamped")
	}
	if c.Check != nil && c.Check.Clients() < c.Writers() {
		fault("%d clients write, and the model knows of %d", c.Writers(), c.Check.Clients())
	}
	if c.Route == Cluster {
		if command, ok := c.scattered(); ok {
			fault("a client of Redis Cluster cannot send %s, whose keys lie in several slots, unless all keys have one hash tag", command)
		}
	}
	return errors.Join(faults...)
}

// scattered finds a command of several keys that need not lie together.
func (c *Config) scattered() (string, bool) {
	tagged := strings.Contains(c.Workload.Prefix, "{") && strings.Contains(c.Workload.Prefix, "}")
	if tagged && len(c.Workload.Names) == 0 {
		return "", false
	}
	for i := range c.Workload.Mix.Commands {
		if command := &c.Workload.Mix.Commands[i]; command.Keys > 1 {
			return command.String(), true
		}
	}
	return "", false
}
