package replicaof

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strconv"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/resp/status"
)

// A Primary is the server that a cluster is a replica of.
type Primary struct {
	Host string `json:"host"`
	Port int    `json:"port"`
	// Node is the ID of the node that copies from it, for all nodes.
	Node string `json:"node"`
}

// Addr returns where the primary listens, host:port.
func (p Primary) Addr() string { return net.JoinHostPort(p.Host, strconv.Itoa(p.Port)) }

// Report returns what RING STATUS shows of the primary that nodes have agreed on; nil if there is none.
func Report(values *agreed.Values) *status.ReplicaOf {
	v := values.Of(agreed.ReplicaofName)
	if v.Version == 0 {
		return nil
	}
	p := read(v)
	return &status.ReplicaOf{Addr: p.Addr(), Node: p.Node}
}

// read returns the primary of an agreed value. It is zero if there is none, or if a later version has written it.
func read(v agreed.Value) (p Primary) {
	if v.Version != 0 {
		_ = json.Unmarshal([]byte(v.Body), &p)
	}
	return p
}

// Follows reports whether the cluster is a replica of that server, and this node copies from it.
func (f *Follower) Follows(host string, port int) bool {
	now, _ := f.now()
	return now == Primary{Host: host, Port: port, Node: f.cfg.Node}
}

// Set has the cluster agree on a primary that this node copies from. If another node copies, this one takes over.
func (f *Follower) Set(ctx context.Context, host string, port int) error {
	body, err := json.Marshal(Primary{Host: host, Port: port, Node: f.cfg.Node})
	if err != nil {
		return err
	}
	return f.agree(ctx, agreed.Change{Name: agreed.ReplicaofName, Body: string(body)})
}

// Unset ends that the cluster is a replica. It has the keys that were copied, and clients may write.
func (f *Follower) Unset(ctx context.Context) error {
	if _, version := f.now(); version == 0 {
		return nil
	}
	return f.agree(ctx, agreed.Change{Name: agreed.ReplicaofName, Remove: true})
}

func (f *Follower) agree(ctx context.Context, c agreed.Change) error {
	_, c.Was = f.now()
	if f.cfg.Agree == nil {
		return errors.New("this node is not part of a cluster")
	}
	err := f.cfg.Agree(ctx, c)
	if errors.Is(err, agreed.ErrChanged) {
		err = errors.New("another REPLICAOF came first")
	}
	return err
}
