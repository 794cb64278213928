package quota

// A Script is what a script may grow. Each limit counts as it was when the script first came to it, so that the script
// goes on when it passes one itself. The zero value refuses nothing.
type Script struct {
	quota  *Quota
	growth int64
	data   int  // in which the script began
	node   bool // the node was over its limit when the script began
	own    map[int]bool
}

// ForScript returns the limits of a script that begins in the data of a database. growth is as for [Quota.Refuses].
func (q *Quota) ForScript(data int, growth int64) Script {
	s := Script{quota: q, growth: growth, data: data, node: q.isFull(&q.node, growth)}
	s.isFull(data)
	return s
}

// Refuses reports whether a write of the script that may grow the data of a database is refused. As in Redis, a script
// that has written goes on; but only in the database that it began in.
func (s *Script) Refuses(data int, wrote bool) bool {
	if s.quota == nil || wrote && data == s.data {
		return false
	}
	return s.node && !wrote || s.isFull(data)
}

func (s *Script) isFull(data int) bool {
	full, known := s.own[data]
	if !known && s.quota.limits.Load() != nil {
		if full = s.quota.RefusesOwn(data, s.growth); s.own == nil {
			s.own = make(map[int]bool)
		}
		s.own[data] = full
	}
	return full
}
