package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ringside-kv/ringside/internal/durable"
)

const (
	membershipFile   = "cluster.json"
	membershipFormat = 1
	// maxMembershipFile bounds the size of the file that is read.
	maxMembershipFile = 4 << 10
)

// membership is what a directory records of its cluster. It is stored before any other node relies
// on it, so that a restarted node does not enter a second cluster.
type membership struct {
	Format int `json:"format"`
	// ID identifies the directory. Only a directory without a store has one here.
	ID string `json:"id,omitempty"`
	// Node is the name of the node that the directory belongs to; a store keeps its own.
	Node    string `json:"node,omitempty"`
	Cluster string `json:"cluster"`
	// Strategy and Hash are those that the cluster was founded with, empty in directories of earlier
	// builds.
	Strategy string `json:"strategy,omitempty"`
	Hash     string `json:"hash,omitempty"`
	// Generation is that of the cluster which the node is in, or has chosen; 0: none.
	Generation uint64 `json:"generation,string"`
	// Founder is the node that was to found that cluster when it was chosen, maybe this
	// one; empty if the cluster was there already.
	Founder string `json:"founder,omitempty"`
	// Entered reports that this node has been registered in the cluster.
	Entered bool `json:"entered"`
}

// dataIsFromCluster reports whether the data in the node's directory came from its cluster. A node
// that chose a cluster founded by another node had no data of its own. It may get some before it
// has recorded that it is registered.
func (m membership) dataIsFromCluster(node string) bool {
	return m.Entered || m.Generation != 0 && m.Founder != node
}

// loadMembership returns a belonging of no cluster if the directory has none yet.
func loadMembership(dir, cluster string) (membership, error) {
	path := filepath.Join(dir, membershipFile)
	none := membership{Format: membershipFormat, Cluster: cluster}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	} else if err != nil {
		return none, fmt.Errorf("read the directory's cluster: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxMembershipFile))
	if err := errors.Join(err, f.Close()); err != nil {
		return none, fmt.Errorf("read the directory's cluster: %w", err)
	}
	var b membership
	if err := durable.Unseal(text, &b); err != nil {
		return none, fmt.Errorf("read the directory's cluster: %w", readDamaged(path, err))
	}
	switch {
	case b.Format != membershipFormat:
		return none, fmt.Errorf("read the directory's cluster: %s: format %d is not %d", path, b.Format, membershipFormat)
	case b.Generation == 0:
		b.Cluster = cluster // it is of none yet
	case b.Cluster != cluster:
		return none, fmt.Errorf("%w: %s belongs to cluster %.80q, and was started with --cluster %.80q: give the former, or another directory",
			ErrOtherCluster, dir, b.Cluster, cluster)
	}
	return b, nil
}

// save replaces the file: after a crash it is the old one or the new one.
func (m membership) save(dir string) error {
	if err := saveJSON(dir, membershipFile, m); err != nil {
		return fmt.Errorf("save the directory's cluster: %w", err)
	}
	return nil
}

// saveJSON replaces a file of a directory: after a crash it is the old one or the new one.
func saveJSON(dir, name string, v any) error { return durable.ReplaceJSON(filepath.Join(dir, name), v) }

// damagedCure is what an operator can do about a damaged file that says what a directory is.
const damagedCure = "restore it from a copy of the directory; or, if other nodes of the cluster have what this one has, " +
	"start the node with an empty directory"

// readDamaged is the error for a file of a directory that cannot be understood.
func readDamaged(path string, err error) error {
	return fmt.Errorf("%s is damaged: %w: %s", path, err, damagedCure)
}
