package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/google/uuid"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/store"
)

// # The name of a node
//
// The table of the cluster knows a node by its name, so the name must never change. It is
// fixed with the first start in a directory and stored there: in the identity of the
// store, or in cluster.json on a node without data. Nothing else of the environment
// decides about it later, such as the host name.

// A storedName is where a directory keeps the name of its node.
type storedName struct {
	id     string // of the directory
	node   string // empty: none is stored
	assign func(node string) error
}

// fixName returns the name of the node and stores it if the directory has none. The error
// is a *Fault if another name is asked for.
func (c *Config) fixName(st *store.Store) (string, error) {
	plate, err := c.storedName(st)
	if err != nil {
		return "", err
	}
	name := plate.node
	if name == "" {
		if name, err = c.registeredName(plate.id); err != nil {
			return "", err
		}
	}
	switch {
	case name == "" && c.ID != "":
		name = c.ID
	case name == "":
		name = defaultName(c.env.HostName(), plate.id)
	case c.ID != "" && c.ID != name:
		return "", &Fault{"id", fmt.Sprintf("%.*q was asked for, but the directory %s belongs to node %q, and a node keeps its name: leave id out, or name another directory",
			maxIDLen, c.ID, c.Dir, name)}
	}
	if plate.node == "" {
		err = plate.assign(name)
	}
	return name, err
}

func (c *Config) storedName(st *store.Store) (storedName, error) {
	if c.Role == RoleStore {
		id := st.Identity()
		return storedName{id.ID, id.Node, st.Assign}, nil
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return storedName{}, err
	}
	b, err := loadMembership(c.Dir, c.Cluster)
	if err != nil {
		return storedName{}, err
	}
	if b.ID == "" {
		b.ID = uuid.NewString()
	}
	return storedName{b.ID, b.Node, func(node string) error {
		b.Node = node
		return b.save(c.Dir)
	}}, nil
}

// registeredName returns the name as which the cluster knows the directory, by the table
// that lies there; empty if it knows none. Versions that did not store the name made it
// of the host name at each start.
func (c *Config) registeredName(id string) (string, error) {
	remains, err := table.ReadRemains(c.raftDir())
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, table.ErrNotFounded):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("find the name of the node: %w", err)
	}
	return remains.Owner(func(name string) bool { return isDefaultName(name, id) }), nil
}

// defaultName is made of the host's name and the id of the directory.
func defaultName(host, id string) string {
	if host == "" {
		return id
	}
	return host + "-" + id
}

// isDefaultName reports whether a name is the default one of a directory, on whatever host.
func isDefaultName(name, id string) bool { return name == id || strings.HasSuffix(name, "-"+id) }

// directoryID returns the id of the directory in a default name, and false for other names.
func directoryID(name string) (id string, ok bool) {
	const size = 36 // of a UUID as text
	if len(name) < size {
		return "", false
	}
	id = name[len(name)-size:]
	return id, uuid.Validate(id) == nil && isDefaultName(name, id)
}
