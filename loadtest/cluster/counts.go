package cluster

// Moved is what nodes have handed over.
type Moved struct{ Keys, Bytes, Handoffs int64 }

// Sub is what has been moved since an earlier time.
func (m Moved) Sub(before Moved) Moved {
	return Moved{m.Keys - before.Keys, m.Bytes - before.Bytes, m.Handoffs - before.Handoffs}
}

// counts are what a node counts, from zero on when it starts anew.
type counts struct {
	moved     Moved
	forwarded int64   // requests that it passed on
	executed  int64   // commands, those of whoever counts not among them
	cpu       float64 // seconds
}

func (f figures) counts() counts {
	return counts{
		moved:     Moved{f.int("moved_keys"), f.int("moved_bytes"), f.int("handoffs_done")},
		forwarded: f.int("requests_forwarded"),
		executed:  f.int("total_commands_processed"),
		cpu:       f.float("used_cpu_sys") + f.float("used_cpu_user"),
	}
}

func (c counts) sub(before counts) counts {
	return counts{
		c.moved.Sub(before.moved), c.forwarded - before.forwarded, c.executed - before.executed, c.cpu - before.cpu,
	}
}

func (c *counts) add(d counts) {
	c.moved = c.moved.Sub(Moved{-d.moved.Keys, -d.moved.Bytes, -d.moved.Handoffs})
	c.forwarded += d.forwarded
	c.executed += d.executed
	c.cpu += d.cpu
}
