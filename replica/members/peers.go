package members

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/ringside-kv/ringside/internal/durable"
)

const (
	peersFile   = "peers.json"
	peersFormat = 1
	// Bounds of the file, should something else have written it.
	maxPeersFile = 4 << 20
	maxPeers     = 4096
)

// peers is the file of the nodes that were there: gossip addresses by id. Serf has a
// file of its own, which is no use here: it forgets a node that failed, so that the
// last one of a cluster that loses its power knows no other node, and it would send each
// start of a node to its own earlier start.
//
// The file is a hint. It is missing after Leave, and a file that cannot be read
// is as good as none.
type peers struct {
	path    string // empty: not kept
	cluster string
	known   map[string]netip.AddrPort
}

type peersJSON struct {
	Format  int                       `json:"format"`
	Cluster string                    `json:"cluster"`
	Peers   map[string]netip.AddrPort `json:"peers"`
}

// loadPeers returns a usable *peers, empty if it returns an error.
func loadPeers(dir, cluster string) (*peers, error) {
	p := &peers{cluster: cluster, known: map[string]netip.AddrPort{}}
	if dir == "" {
		return p, nil
	}
	p.path = filepath.Join(dir, peersFile)
	f, err := os.Open(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	} else if err != nil {
		return p, fmt.Errorf("read known peers: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPeersFile))
	if err != nil {
		return p, fmt.Errorf("read known peers: %w", err)
	}
	known, err := parsePeers(text, cluster)
	if err != nil {
		return p, fmt.Errorf("read known peers: %s: %w", p.path, err)
	}
	p.known = known
	return p, nil
}

func parsePeers(text []byte, cluster string) (map[string]netip.AddrPort, error) {
	var file peersJSON
	if err := durable.Unseal(text, &file); err != nil {
		return nil, err
	}
	switch {
	case file.Format != peersFormat:
		return nil, fmt.Errorf("format %d is not %d", file.Format, peersFormat)
	case file.Cluster != cluster:
		return nil, fmt.Errorf("it is of cluster %.80q, not %.80q", file.Cluster, cluster)
	case len(file.Peers) > maxPeers:
		return nil, fmt.Errorf("%d peers are more than %d", len(file.Peers), maxPeers)
	}
	known := map[string]netip.AddrPort{}
	for id, addr := range file.Peers {
		if validateID(id) == nil && addr.IsValid() && addr.Port() != 0 {
			known[id] = unmap(addr)
		}
	}
	return known, nil
}

// update takes what gossip knows now, and returns whether something is new. Peers that
// are not among the nodes stay: they may have failed before this node started. Those
// that left go.
func (p *peers) update(self string, nodes []Node) bool {
	known := maps.Clone(p.known)
	delete(known, self)
	for _, n := range nodes {
		if n.ID == self {
			continue
		}
		if n.Status == Left {
			delete(known, n.ID)
			continue
		}
		if addr, err := netip.ParseAddrPort(n.GossipAddr); err == nil && (len(known) < maxPeers || known[n.ID].IsValid()) {
			known[n.ID] = addr
		}
	}
	changed := !maps.Equal(known, p.known)
	p.known = known
	return changed
}

// save replaces the file: after a crash it is the old one or the new one.
func (p *peers) save() error {
	if p.path == "" {
		return nil
	}
	if err := durable.ReplaceJSON(p.path, peersJSON{peersFormat, p.cluster, p.known}); err != nil {
		return fmt.Errorf("save known peers: %w", err)
	}
	return nil
}

// remove makes the next start one without known peers.
func (p *peers) remove() error {
	if p.path == "" {
		return nil
	}
	if err := os.Remove(p.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget known peers: %w", err)
	}
	return nil
}

// keepPeers writes the file of peers as nodes come and go. It has a goroutine of its
// own, so that a slow disk does not keep news from watchers.
func (m *Members) keepPeers() {
	for {
		select {
		case <-m.peersChanged:
			m.savePeers()
		case <-m.ctx.Done():
			m.savePeers()
			return
		}
	}
}

func (m *Members) savePeers() {
	m.peersMu.Lock()
	defer m.peersMu.Unlock()
	if m.leaving || !m.peers.update(m.self.id, m.view.Load().nodes) {
		return
	}
	if err := m.peers.save(); err != nil {
		m.log.Warn("writing the file of known peers failed", slog.Any("err", err))
	}
}

func (m *Members) forgetPeer(id string) error {
	m.peersMu.Lock()
	defer m.peersMu.Unlock()
	if _, ok := m.peers.known[id]; !ok || m.leaving {
		return nil
	}
	delete(m.peers.known, id)
	return m.peers.save()
}
