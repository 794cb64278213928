package node

import (
	"github.com/ringside-kv/ringside/replica/step"
)

// The steps of a start, at which tests end nodes as they do at those of package replica.
const (
	startNoted      step.Step = "start: the directory knows of it"
	startOpened     step.Step = "start: the table is open"
	startEntering   step.Step = "start: looks for its cluster"
	startRegistered step.Step = "start: registered"
	startEntered    step.Step = "start: in the cluster"
)
