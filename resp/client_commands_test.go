package resp

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// The client knows which commands wait, also when its user may not run COMMAND: one that waited on a shared
// connection would hold up all callers.
func TestClientRefusesBlockingCommandsWithoutCommand(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 3)
	o.Do("ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-command")
	r, err := client.Open(t.Context(), client.Config{Addrs: []string{addr}, Username: "app", Password: "pw"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for _, row := range newCommandTable().All {
		if row.Flags&command.FlagBlocking == 0 {
			continue
		}
		n++
		args := []string{row.Name, "BLOCK", "1", "STREAMS", "k", "0"} // the server would refuse most of them
		if err := r.Do(t.Context(), args...).Err(); !errors.Is(err, client.ErrUnshared) {
			t.Errorf("%s: %v, want %v", row.Name, err, client.ErrUnshared)
		}
	}
	if n < 10 {
		t.Errorf("the table has %d blocking commands", n)
	}
	// Without BLOCK, XREAD does not wait.
	if err := r.Do(context.Background(), "XREAD", "STREAMS", "k", "0").Err(); err != nil {
		t.Errorf("XREAD: %v", err)
	}
}

// sharedConnection names the commands that a node runs only for its own clients though they leave the connection
// as it was. Containers stand for all of their subcommands.
var sharedConnection = strings.Fields(`acl cluster command config function latency memory module object pubsub slowlog xgroup xinfo
	client|id client|info client|list client|kill client|getname client|pause client|unpause client|unblock client|help
	client|getredir client|trackinginfo script|exists script|flush script|kill script|load script|help hashmask hashmask|help hotkeys|help
	info lastsave shutdown time debug swapdb wait waitaof bgrewriteaof bgsave lolwut replicaof role save slaveof pfselftest loadlevels
	ring|info ring|explain ring|locate ring|nodes ring|placement ring|status ring|rehome ring|decisions ring|plan ring|balance
	ring|strategy ring|leave ring|forget ring|pause ring|resume ring|throttle ring|backup ring|backups ring|databases ring|database
	ring|format ring|scrub ring|recreate ring|pin ring|user ring|help`)

// A command that changes its connection would change it for later callers, so clients that share connections
// refuse it. A new command of the table is in the client's list, or above.
func TestClientRefusesCommandsThatChangeConnections(t *testing.T) {
	errNoNode := errors.New("no node")
	p := client.NewPool(func(context.Context) (net.Conn, error) { return nil, errNoNode })
	defer func() { _ = p.Close() }()
	for _, row := range newCommandTable().All {
		if row.ForNodes || row.Between || row.Refusal != "" || row.Flags&command.FlagContainer != 0 {
			continue
		}
		container, _, _ := strings.Cut(row.Full, "|")
		err := p.Do(t.Context(), append(strings.Split(strings.ToUpper(row.Full), "|"), "x", "x")...).Err()
		shared := slices.Contains(sharedConnection, row.Full) || slices.Contains(sharedConnection, container) && container != "hashmask"
		if refused := errors.Is(err, client.ErrUnshared); refused == shared || !refused && !errors.Is(err, errNoNode) {
			t.Errorf("%s: %v; it leaves the connection as it was: %v", row.Full, err, shared)
		}
	}
}
