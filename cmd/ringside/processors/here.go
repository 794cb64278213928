package processors

import "runtime"

// here is the system that the process runs on. Go looks for changes of how many processors
// there are without a limit.
type here struct{}

func (here) threads() int { return runtime.GOMAXPROCS(0) }
func (here) limit(n int)  { runtime.GOMAXPROCS(n) }
func (here) lift()        { runtime.SetDefaultGOMAXPROCS() }
