package monitoring

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/relay"
)

// A Client sees lines. Push queues them and does not wait.
type Client interface{ Push(lines []byte) }

// An Audience is which clients see a line, and which lines a client sees.
type Audience int

const (
	// Own are the clients that see what their node runs.
	Own Audience = 1 << iota
	// Cluster are the clients, of any node, that see what all nodes run for clients.
	Cluster
)

// Monitors are the clients of a node that see lines, and the other nodes that have clients which see those of this one. Its
// methods may be called from any goroutine.
type Monitors struct {
	cfg Config
	n   atomic.Int32 // clients and watchers

	mu       sync.Mutex
	clients  map[Client]Audience
	watchers map[string]*watcher // by node
	peers    []relay.Peer
	feeds    map[string]*feed // by node; none unless there is a client of the audience Cluster
	sessions uint64           // that the feeds have begun
	progress chan struct{}    // closed when another node has answered
	ended    bool
	running  sync.WaitGroup // goroutines of feeds
}

// Config is what Monitors need of their server.
type Config struct {
	Self   func() string   // the node
	Run    string          // its start
	Stop   <-chan struct{} // closed when the server closes
	Logger *slog.Logger
}

// patience is how long a client waits for other nodes that are to tell it what they run.
const patience = time.Second

// New returns Monitors. Close must be called.
func New(cfg Config) *Monitors {
	return &Monitors{
		cfg: cfg, clients: make(map[Client]Audience), watchers: make(map[string]*watcher), feeds: make(map[string]*feed),
		progress: make(chan struct{}),
	}
}

// Any reports whether anybody sees lines. It takes no lock.
func (m *Monitors) Any() bool { return m.n.Load() > 0 }

// Add has a client see lines, or others than before. It returns once all nodes that seem to be there know, or have not
// answered for patience, or the client is gone.
func (m *Monitors) Add(c Client, sees Audience, gone <-chan struct{}) {
	m.mu.Lock()
	m.clients[c] = sees
	m.adaptLocked()
	m.mu.Unlock()
	if sees == Cluster {
		m.await(gone)
	}
}

// Change is [Monitors.Add] for a client that sees lines already; it does nothing for others.
func (m *Monitors) Change(c Client, sees Audience, gone <-chan struct{}) {
	m.mu.Lock()
	before := m.clients[c]
	m.mu.Unlock()
	if before != 0 && before != sees {
		m.Add(c, sees, gone)
	}
}

// Remove has a client see no more lines.
func (m *Monitors) Remove(c Client) {
	if !m.Any() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clients[c] != 0 {
		delete(m.clients, c)
		m.adaptLocked()
	}
}

// Show shows a line to some audiences. It does not wait.
func (m *Monitors) Show(line []byte, to Audience) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for c, sees := range m.clients {
		if to&sees != 0 {
			c.Push(line)
		}
	}
	if to&Cluster != 0 {
		for _, w := range m.watchers {
			w.add(line)
		}
	}
}

// Follow goes by new routes: these other nodes seem to be there.
func (m *Monitors) Follow(peers []relay.Peer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peers = peers
	m.adaptLocked()
}

// Close answers other nodes and ends the feeds, when there are no clients any more. It waits for the feeds.
func (m *Monitors) Close() {
	m.mu.Lock()
	m.ended = true
	for _, w := range m.watchers {
		w.drop()
	}
	m.adaptLocked()
	m.mu.Unlock()
	m.running.Wait()
}

// adaptLocked has a feed from each node that seems to be there, while a client sees what all nodes run, and counts who
// sees lines. The caller holds the lock.
func (m *Monitors) adaptLocked() {
	m.n.Store(int32(len(m.clients) + len(m.watchers)))
	wanted := false
	for _, sees := range m.clients {
		wanted = wanted || sees == Cluster && !m.ended
	}
	for node, f := range m.feeds {
		there := slices.ContainsFunc(m.peers, func(p relay.Peer) bool { return p.ID == node })
		if wanted && there {
			continue
		}
		delete(m.feeds, node)
		f.endLocked()
		if wanted {
			f.lostLocked(nil)
		}
	}
	if !wanted {
		return
	}
	for _, peer := range m.peers {
		f := m.feeds[peer.ID]
		if f == nil {
			f = &feed{of: m, over: make(chan struct{})}
			m.feeds[peer.ID] = f
			f.peer = peer
			m.running.Go(f.run)
		}
		f.peer = peer
	}
}

// await returns once all nodes that seem to be there tell what they run, or have not answered for patience.
func (m *Monitors) await(gone <-chan struct{}) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		m.mu.Lock()
		ready, progress := true, m.progress
		for _, f := range m.feeds {
			ready = ready && f.answered
		}
		m.mu.Unlock()
		if ready {
			return
		}
		select {
		case <-progress:
		case <-timeout.C:
			return
		case <-gone:
			return
		case <-m.cfg.Stop:
			return
		}
	}
}

// tellLocked shows lines of another node to the clients that see what all nodes run. The caller holds the lock.
func (m *Monitors) tellLocked(lines []byte) {
	if len(lines) == 0 {
		return
	}
	for c, sees := range m.clients {
		if sees == Cluster {
			c.Push(lines)
		}
	}
}
