package replicaof

import (
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/importer"
)

// A Status is how far the copy of a primary has come, as a node knows it.
type Status struct {
	Primary
	// Replica: the cluster is one. Here: this node is the one that copies; only it knows the rest.
	Replica, Here bool
	importer.Counts
	// Silent is for how long the primary has sent nothing, below 0 if it never has. Down is for how long the copy has
	// not followed.
	Silent, Down time.Duration
}

// Status returns how far the copy has come.
func (f *Follower) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Status{Primary: f.primary, Replica: f.version != 0, Here: f.version != 0 && f.primary.Node == f.cfg.Node, Silent: -1}
	if f.stats != nil {
		s.Counts = f.stats.Counts()
	}
	if at := f.heard.Load(); at > 0 {
		s.Silent = time.Since(time.Unix(0, at))
	}
	if !f.downSince.IsZero() {
		s.Down = time.Since(f.downSince)
	}
	return s
}

// Setting is the primary as CONFIG GET shows it; empty if there is none.
func (s *Status) Setting() string {
	if !s.Replica {
		return ""
	}
	return s.Host + " " + strconv.Itoa(s.Port)
}

// State is the state as ROLE names it.
func (s *Status) State() string {
	switch {
	case !s.Here:
		return "unknown"
	case s.Following:
		return "connected"
	case s.Copying:
		return "sync"
	}
	return "connect"
}
