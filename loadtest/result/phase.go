package result

import "time"

// A phase is a piece of a run.
type phase struct {
	name        string
	from, until time.Duration
	counts      counts
	commands    []command
	service     hist
}

// A command is what one command of a phase came to. The latency of a phase is that of its
// commands together.
type command struct {
	operations, failed int64
	latency            hist
}

func newPhase(commands int) phase {
	p := phase{commands: make([]command, commands), service: hist{digits: fine}}
	for i := range p.commands {
		p.commands[i].latency.digits = fine
	}
	return p
}

func (p *phase) merge(o *phase) {
	p.counts.merge(&o.counts)
	p.service.merge(&o.service)
	for i := range p.commands {
		c, from := &p.commands[i], &o.commands[i]
		c.operations += from.operations
		c.failed += from.failed
		c.latency.merge(&from.latency)
	}
}

func (p *phase) reset() {
	p.counts = counts{}
	p.service.reset()
	for i := range p.commands {
		c := &p.commands[i]
		c.operations, c.failed = 0, 0
		c.latency.reset()
	}
}

func (s *Series) reportPhase(p *phase) Phase {
	all := hist{digits: fine}
	r := Phase{Name: p.name, FromMS: milliseconds(p.from), UntilMS: milliseconds(p.until)}
	for i := range p.commands {
		c := &p.commands[i]
		all.merge(&c.latency)
		r.Commands = append(r.Commands, CommandFigures{
			Command: s.cfg.Commands[i], Operations: c.operations, Failed: c.failed, Latency: c.latency.latency(),
		})
	}
	r.Clients = s.clients(&p.counts, &all)
	r.Clients.Latency.Histogram = all.encode()
	if s.cfg.Open {
		service := p.service.latency()
		service.Histogram = p.service.encode()
		r.Service = &service
	}
	return r
}
