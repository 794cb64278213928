package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/status"
)

// A directory finds the nodes of a cluster that is no fleet.
type directory struct {
	access access
	addrs  []string // of those who may know

	asked time.Time
	nodes []Node
}

// news is how old what is known may be. To ask for it makes nodes ask each other.
const news = 2 * time.Second

// find tells who is up and holds data. One goroutine at a time may call it.
func (d *directory) find(ctx context.Context) ([]Node, error) {
	if d.nodes != nil && time.Since(d.asked) < news {
		return d.nodes, nil
	}
	addrs := slices.Clone(d.addrs)
	for _, n := range d.nodes {
		if !slices.Contains(addrs, n.Addr) {
			addrs = append(addrs, n.Addr)
		}
	}
	var faults []error
	for _, addr := range addrs {
		report, err := statusAt(ctx, d.access, addr)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", addr, err))
			continue
		}
		d.asked, d.nodes = time.Now(), nil
		for _, n := range report.Nodes {
			if n.Health == status.Alive && n.Role == "store" && n.Addr != "" && n.State != status.Stray {
				d.nodes = append(d.nodes, Node{ID: n.ID, Addr: n.Addr})
			}
		}
		return d.nodes, nil
	}
	if d.nodes != nil {
		return d.nodes, nil // they may not answer for a while
	}
	return nil, errors.Join(faults...)
}

// statusAt is the cluster as the node at an address sees it.
func statusAt(ctx context.Context, a access, addr string) (*status.Report, error) {
	text, err := a.ask(ctx, addr, "RING", "STATUS", "JSON")
	if err != nil {
		if strings.HasPrefix(err.Error(), "ERR unknown command") {
			err = ErrNotRingside
		}
		return nil, err
	}
	r := new(status.Report)
	if err := json.Unmarshal([]byte(text), r); err != nil {
		return nil, fmt.Errorf("the reply to RING STATUS cannot be decoded: %w", err)
	}
	return r, nil
}
