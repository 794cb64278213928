package node

import "github.com/ringside-kv/ringside/replica"

// The steps of a start, at which tests end nodes as they do at those of package replica.
const (
	startNoted      replica.Step = "start: the directory knows of it"
	startOpened     replica.Step = "start: the table is open"
	startEntering   replica.Step = "start: looks for its cluster"
	startRegistered replica.Step = "start: registered"
	startEntered    replica.Step = "start: in the cluster"
)

func (e environment) reached(s replica.Step) {
	if e.steps != nil {
		e.steps(s)
	}
}
