package facts

import (
	"crypto/tls"
	"crypto/x509"
	"slices"

	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/store"
)

// CountAlive counts the nodes that are alive, and all.
func CountAlive(nodes []members.Node) (alive, all int) {
	for i := range nodes {
		if nodes[i].Status == members.Alive {
			alive++
		}
	}
	return alive, len(nodes)
}

// Shortages counts the ranges that have fewer backups than are wanted, or than there are other stores to have them, and
// those of which no node with a copy seems to be there.
func Shortages(st *table.State, nodes []members.Node) (short, lost int) {
	alive := make(map[string]bool)
	for _, m := range nodes {
		alive[m.ID] = m.Status == members.Alive
	}
	want := min(st.Cluster().Backups, max(len(st.MembersOf())-1, 0))
	for row := range st.Rows() {
		there := func(node string) bool { return alive[node] }
		if len(row.Backups) < want {
			short++
		}
		if !there(row.Primary) && !slices.ContainsFunc(row.Backups, there) {
			lost++
		}
	}
	return short, lost
}

// Certificate returns the certificate of a server, nil if it has none.
func Certificate(of *tls.Config) *x509.Certificate {
	if of == nil || len(of.Certificates) == 0 || len(of.Certificates[0].Certificate) == 0 {
		return nil
	}
	if leaf := of.Certificates[0].Leaf; leaf != nil {
		return leaf
	}
	leaf, err := x509.ParseCertificate(of.Certificates[0].Certificate[0])
	if err != nil {
		return nil
	}
	return leaf
}

// Machine returns what a node with a store takes of its machine.
func Machine(s *store.Store) *status.Machine {
	stats := s.Stats()
	m := &status.Machine{Memory: admin.MemoryInUse(&stats)}
	if free, total, err := s.DiskUsage(); err == nil {
		m.DiskFree, m.DiskTotal = int64(free), int64(total)
	}
	return m
}
