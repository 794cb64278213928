package cluster

import (
	"bytes"
	"context"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"
)

// profiled is how long one profile is, and so of what time a figure tells. Ending one takes
// up to 200 ms, which belong to none.
const profiled = time.Second

// processors finds out who takes the processors of this process, by profiles of it, one after
// the other: there is one at a time, and while somebody else makes one, nothing is known.
type processors struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	cores  atomic.Value // map[string]float64, by label; nil: not known
}

func startProcessors() *processors {
	p := new(processors)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.done.Go(p.run)
	return p
}

func (p *processors) run() {
	for p.ctx.Err() == nil {
		p.cores.Store(p.profile())
	}
}

// profile makes one; nil if it cannot be made.
func (p *processors) profile() map[string]float64 {
	var written bytes.Buffer
	over := time.NewTimer(profiled)
	defer over.Stop()
	fault := pprof.StartCPUProfile(&written)
	began := time.Now()
	select {
	case <-over.C:
	case <-p.ctx.Done():
	}
	took := time.Since(began)
	if fault != nil {
		return nil
	}
	pprof.StopCPUProfile()
	of, err := worked(written.Bytes(), Label)
	if err != nil || took < profiled/2 {
		return nil
	}
	cores := make(map[string]float64)
	for value, worked := range of {
		cores[value] = worked.Seconds() / took.Seconds()
	}
	return cores
}

// last is how many processors each label took lately; nil: not known.
func (p *processors) last() map[string]float64 {
	if p == nil {
		return nil
	}
	cores, _ := p.cores.Load().(map[string]float64)
	return cores
}

func (p *processors) stop() {
	p.cancel()
	p.done.Wait()
}
