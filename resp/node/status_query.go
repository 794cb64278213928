package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/resp/node/internal/facts"
	"github.com/ringside-kv/ringside/resp/node/internal/policies"
	"github.com/ringside-kv/ringside/resp/page"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
)

// What a node alone knows, it is asked for on connections of [bus.Ask]: an inquiry and
// the account that it gives, in JSON, so that nodes of different builds understand each other as far
// as they can.

// A statusQuery is what a node is asked for; what it serves and moves is always told.
type statusQuery struct {
	// Loads are ranges whose load is asked for.
	Loads []ring.Range `json:"loads,omitempty"`
	// Profile asks for the load by cell.
	Profile bool `json:"profile,omitempty"`
	// History asks for the figures of the last hour.
	History bool `json:"history,omitempty"`
}

// A nodeStatus is what a node knows of itself.
type nodeStatus struct {
	// Fault says why the rest is missing.
	Fault    string             `json:"fault,omitempty"`
	Version  string             `json:"version"`
	Keys     int64              `json:"keys"` // that it serves, estimated
	Bytes    int64              `json:"bytes"`
	Sizes    map[int]int64      `json:"database_bytes,omitempty"` // of what it serves, by database
	Refused  string             `json:"refused,omitempty"`
	Moved    status.Moved       `json:"moved"`
	Feeding  status.Feeding     `json:"feeding"`
	Machine  *status.Machine    `json:"machine,omitempty"`
	History  []page.Sample      `json:"history,omitempty"` // none without HTTP
	Lease    *status.Lease      `json:"lease,omitempty"`
	Scrub    *status.Scrub      `json:"scrub,omitempty"`
	Load     *status.Load       `json:"load,omitempty"`
	Profile  []byte             `json:"profile,omitempty"` // a load.Profile in its binary form
	Progress []replica.Progress `json:"progress,omitempty"`
	Loads    []ring.Load        `json:"loads,omitempty"` // in the order of the inquiry
}

const (
	// statusTimeout is how long a report waits for one node.
	statusTimeout = 2 * time.Second
	// statusServeTimeout bounds the life of a connection that an inquiry comes on. Loads of
	// many ranges of a large store take a while.
	statusServeTimeout = 30 * time.Second
	// maxConcurrentQueries bounds how many nodes are asked at a time.
	maxConcurrentQueries = 32
)

// serveStatus answers one inquiry.
func (sr *statusReporter) serveStatus(peer bus.Peer, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(sr.c.ctx, statusServeTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	text, err := readMessage(conn)
	if err != nil {
		return
	}
	var q statusQuery
	var a nodeStatus
	if err := json.Unmarshal(text, &q); err != nil {
		a.Fault = "an inquiry that cannot be read: " + err.Error()
	} else {
		a = sr.ownStatus(ctx, &q)
	}
	if text, err = json.Marshal(&a); err == nil {
		err = writeMessage(conn, text)
	}
	if err != nil && ctx.Err() == nil {
		sr.c.n.cfg.Logger.Debug("answering a status query failed", "node", peer.ID, "err", err)
	}
}

// ownStatus returns the status of this node.
func (sr *statusReporter) ownStatus(ctx context.Context, q *statusQuery) nodeStatus {
	a := nodeStatus{Version: sr.c.n.cfg.Version, Progress: sr.c.engine.Progress(), Moved: moved(sr.c.engine.Totals()), Feeding: sr.c.readiness.feedStatus(), Scrub: sr.c.scrub()}
	a.Keys, a.Bytes = sr.c.n.server.OwnSize()
	a.Sizes = policies.Sizes(sr.c.table.State(), sr.c.n.store.ActiveBytesOf)
	l := sr.c.n.server.Load()
	a.Load = &l
	if q.Profile {
		a.Profile, _ = sr.c.n.server.LoadProfile().MarshalBinary() // never fails
	}
	if q.History {
		a.History = sr.c.n.page.History()
	}
	a.Machine = facts.Machine(sr.c.n.store)
	a.Lease = leaseOf(sr.c.engine.LeaseStats())
	if err := sr.c.n.store.Writable(); err != nil {
		a.Refused = err.Error()
	}
	for _, r := range q.Loads {
		load, err := sr.c.n.store.RangeLoad(r)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			a.Fault = err.Error()
			return a
		}
		a.Loads = append(a.Loads, ring.Load{Keys: load.Keys, Bytes: load.Bytes})
	}
	return a
}

func moved(t replica.Totals) status.Moved {
	m := status.Moved{
		Done: t.Done, Failed: t.Failed, Ranges: t.Ranges, Keys: t.Keys, Bytes: t.Bytes, Traffic: t.Traffic, Held: t.Held.Seconds(),
	}
	if t.Copying > 0 {
		m.Rate = float64(t.Bytes) / t.Copying.Seconds()
	}
	return m
}

// queryStatus puts an inquiry to a node, which may be this one.
func (sr *statusReporter) queryStatus(ctx context.Context, node string, q *statusQuery) (a nodeStatus, err error) {
	if node == sr.c.n.id {
		a = sr.ownStatus(ctx, q)
	} else if a, err = sr.queryPeer(ctx, node, q); err != nil {
		if ctx.Err() != nil {
			err = errNoAnswer
		}
		return a, err
	}
	switch {
	case a.Fault != "":
		err = errors.New(a.Fault)
	case len(a.Loads) != len(q.Loads):
		err = fmt.Errorf("%d loads in the place of %d", len(a.Loads), len(q.Loads))
	}
	return a, err
}

var errNoAnswer = errors.New("no answer in time")

func (sr *statusReporter) queryPeer(ctx context.Context, node string, q *statusQuery) (a nodeStatus, err error) {
	text, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	conn, err := sr.c.dial(ctx, node, bus.Ask)
	if err != nil {
		return a, err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := writeMessage(conn, text); err != nil {
		return a, err
	}
	if text, err = readMessage(conn); err != nil {
		return a, err
	}
	return a, json.Unmarshal(text, &a)
}

// histories returns the last hour of nodes that answer: of one, or of all that are alive if none is named.
func (sr *statusReporter) histories(ctx context.Context, node string) map[string][]page.Sample {
	inquiries := make(map[string]*statusQuery)
	for _, m := range sr.c.members.Nodes() {
		if m.Status == members.Alive && (node == "" || node == m.ID) {
			inquiries[m.ID] = &statusQuery{History: true}
		}
	}
	all := make(map[string][]page.Sample)
	for id, outcome := range sr.queryAll(ctx, inquiries, statusTimeout) {
		if outcome.err == nil {
			all[id] = outcome.History
		}
	}
	return all
}

// A queryResult is what became of an inquiry.
type queryResult struct {
	nodeStatus
	err error
}

// queryAll puts an inquiry to each of the nodes, some at a time, and gives each so long.
func (sr *statusReporter) queryAll(ctx context.Context, inquiries map[string]*statusQuery, timeout time.Duration) map[string]queryResult {
	outcomes := make(map[string]queryResult, len(inquiries))
	var mu sync.Mutex
	var asking sync.WaitGroup
	room := make(chan struct{}, maxConcurrentQueries)
	for node, q := range inquiries {
		room <- struct{}{}
		asking.Go(func() {
			defer func() { <-room }()
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			a, err := sr.queryStatus(ctx, node, q)
			mu.Lock()
			defer mu.Unlock()
			outcomes[node] = queryResult{a, err}
		})
	}
	asking.Wait()
	return outcomes
}
