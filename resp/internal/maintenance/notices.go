package maintenance

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A Client is who is told: the queue of one connection's push messages. No method waits. The first
// byte of a message is put right for the client's protocol; Kick has what is queued sent, once Queue
// has returned true. Idle is for how long the client has sent no command, though it could. EndTimedWaits
// answers blocking commands that have a timeout as if that were over, so that the client can go.
type Client interface {
	Queue(message []byte) (kick bool)
	Kick()
	Idle() time.Duration
	EndTimedWaits()
}

// waitHint is the number of seconds that MIGRATING and FAILING_OVER give: clients show it, and keep
// their longer timeouts until MIGRATED or FAILED_OVER.
const waitHint = 10

// Notices are the clients of a node that asked for messages. The zero value is ready for use, and its methods
// may be called from any goroutine.
type Notices struct {
	mu      sync.Mutex
	clients map[Client]Endpoint
	number  int64 // of the last message; all clients see the same numbers
	next    int   // of addrs, for the next client

	// The present state: nodes whose ranges get another primary, and nodes that seem to be gone. A
	// new client is sent it, too.
	migrating, failing []string
	addrs              []string  // where clients go; none while the node stays
	told, end          time.Time // when Move was called, and when the node ends
}

// An Endpoint is what a client wants to be told of where to go.
type Endpoint int

const (
	// Named: an address.
	Named Endpoint = iota
	// Unnamed: none. The client connects again to the address that it has.
	Unnamed
	// Routed: the client knows from CLUSTER SLOTS where keys are, and has connections to all nodes. It is
	// not sent to another node, which would leave it with two connections there and none here.
	Routed
)

// Parse reads what follows CLIENT MAINT_NOTIFICATIONS: ON, with an endpoint type or without, or OFF.
// msg is the error reply, or empty. A node has one address for clients, so all types but none mean that
// one. Messages are pushed between replies, which takes protocol 3.
func Parse(args [][]byte, protocol int) (e Endpoint, on bool, msg string) {
	switch {
	case wire.EqualFold(args[0], "off") && len(args) == 1:
		return 0, false, ""
	case !wire.EqualFold(args[0], "on") || len(args)%2 == 0:
		return 0, false, command.MsgSyntax
	case protocol != 3:
		return 0, false, "ERR CLIENT MAINT_NOTIFICATIONS ON needs protocol 3: send HELLO 3 first"
	}
	for args = args[1:]; len(args) > 0; args = args[2:] {
		if !wire.EqualFold(args[0], "moving-endpoint-type") {
			return 0, false, command.MsgSyntax
		}
		i := slices.IndexFunc(endpointTypes, func(known string) bool { return wire.EqualFold(args[1], known) })
		if i < 0 {
			return 0, false, "ERR moving-endpoint-type is one of " + strings.Join(endpointTypes, ", ")
		}
		if e = Named; endpointTypes[i] == "none" {
			e = Unnamed
		}
	}
	return e, true, ""
}

var endpointTypes = []string{"auto", "internal-ip", "internal-fqdn", "external-ip", "external-fqdn", "none"}

// Add registers a client, and sends it the present state. The caller holds back what is queued until
// the reply has left.
func (n *Notices) Add(c Client, e Endpoint) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.clients == nil {
		n.clients = make(map[Client]Endpoint)
	}
	_, known := n.clients[c]
	n.clients[c] = e
	if known {
		return
	}
	if len(n.migrating) > 0 {
		send(c, n.begun("MIGRATING", n.migrating))
	}
	if len(n.failing) > 0 {
		send(c, n.begun("FAILING_OVER", n.failing))
	}
	if len(n.addrs) > 0 {
		n.sendAway(c)
	}
}

// Remove removes a client.
func (n *Notices) Remove(c Client) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.clients, c)
}

// Len returns the number of clients.
func (n *Notices) Len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.clients)
}

// Move sends MOVING to all clients, and to those added later: the node ends in the given time. The
// addresses of other nodes are assigned in turn. Without an address, Move does nothing. Only the first
// call counts.
func (n *Notices) Move(addrs []string, within time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.addrs) > 0 || len(addrs) == 0 {
		return
	}
	n.addrs, n.told, n.next = slices.Clone(addrs), time.Now(), 0
	n.end = n.told.Add(within)
	for c := range n.clients {
		n.sendAway(c)
	}
}

const (
	// awaitPause is how often AwaitMoved looks.
	awaitPause = 20 * time.Millisecond
	// idleLongEnough is for how long a client is waited for that sends nothing. Libraries that read
	// all the time have gone by then. Others look, before they use an idle connection, whether it is
	// still there.
	idleLongEnough = 200 * time.Millisecond
)

// AwaitMoved returns when all clients that got MOVING have closed their connections or are idle, when
// the time given to Move is over, or when ctx is done. Before Move it returns at once.
func (n *Notices) AwaitMoved(ctx context.Context) {
	tick := time.NewTicker(awaitPause)
	defer tick.Stop()
	for n.waits() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (n *Notices) waits() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if len(n.addrs) == 0 || !now.Before(n.end) {
		return false
	}
	for c, e := range n.clients {
		if e != Routed && (c.Idle() < idleLongEnough || now.Sub(n.told) < idleLongEnough) {
			return true
		}
	}
	return false
}

// sendAway sends MOVING to one client; n.mu is held.
func (n *Notices) sendAway(c Client) {
	if n.clients[c] == Routed {
		return
	}
	n.number++
	b := wire.AppendArray(nil, 4)
	b = wire.AppendBulkString(b, "MOVING")
	b = wire.AppendInt(b, n.number)
	b = wire.AppendInt(b, max(int64(time.Until(n.end).Round(time.Second)/time.Second), 1))
	if n.clients[c] == Unnamed {
		b = append(b, "_\r\n"...)
	} else {
		b = wire.AppendBulkString(b, n.addrs[n.next%len(n.addrs)])
		n.next++
	}
	send(c, b)
	c.EndTimedWaits()
}

// Follow sets the nodes whose ranges are about to get another primary, and the nodes that have ranges
// and seem to be gone. It sends messages where either list becomes empty, or is no longer empty. Calls
// must come in order.
func (n *Notices) Follow(migrating, failing []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.follow(&n.migrating, migrating, "MIGRATING", "MIGRATED")
	n.follow(&n.failing, failing, "FAILING_OVER", "FAILED_OVER")
}

// follow sends a message where a list of nodes becomes empty, or is no longer empty: other changes make
// no difference to a client.
func (n *Notices) follow(was *[]string, now []string, begins, ends string) {
	before := *was
	*was = slices.Clone(now)
	if (len(before) == 0) == (len(now) == 0) {
		return
	}
	var message []byte
	n.number++
	if len(now) > 0 {
		message = n.begun(begins, now)
	} else {
		message = wire.AppendArray(nil, 3)
		message = wire.AppendBulkString(message, ends)
		message = wire.AppendInt(message, n.number)
		message = appendNames(message, before)
	}
	for c := range n.clients {
		send(c, message)
	}
}

// begun is a message about something that begins, under the number of the last one.
func (n *Notices) begun(kind string, nodes []string) []byte {
	b := wire.AppendArray(nil, 4)
	b = wire.AppendBulkString(b, kind)
	b = wire.AppendInt(b, n.number)
	b = wire.AppendInt(b, waitHint)
	return appendNames(b, nodes)
}

func appendNames(b []byte, names []string) []byte {
	b = wire.AppendArray(b, len(names))
	for _, name := range names {
		b = wire.AppendBulkString(b, name)
	}
	return b
}

func send(c Client, message []byte) {
	if c.Queue(message) {
		c.Kick()
	}
}
