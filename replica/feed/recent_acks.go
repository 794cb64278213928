package feed

import "time"

// recentAcks are the newest acknowledgements of a session, so that a slow write can be told which of its backups was
// slow. Whoever asks does so right after the last acknowledgement, so a few are enough.
type recentAcks struct {
	ring  [64]recentAck
	count int // of all so far
}

// A recentAck says that the member had all changes up to a number at a time.
type recentAck struct {
	upTo uint64
	at   time.Time
}

func (r *recentAcks) add(upTo uint64, at time.Time) {
	r.ring[r.count%len(r.ring)] = recentAck{upTo, at}
	r.count++
}

// of returns when a change was acknowledged. known is false if it is not yet, or so long ago that it is forgotten.
func (r *recentAcks) of(number uint64) (at time.Time, known bool) {
	for i := r.count - 1; i >= 0 && i >= r.count-len(r.ring); i-- {
		a := &r.ring[i%len(r.ring)]
		if a.upTo < number {
			return at, known
		}
		at, known = a.at, true
	}
	if r.count > len(r.ring) { // the first of those that have it may be forgotten
		return time.Time{}, false
	}
	return at, known
}

// AckTimes calls visit for each member of a tap that has acknowledged a change, with the time, but for those that have
// not, or so long ago that it is forgotten. visit must not use the feed.
func (h *Feed) AckTimes(tap Tap, number uint64, visit func(node string, at time.Time)) {
	f := &h.primary
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range f.state.quorums {
		if q.tap != tap {
			continue
		}
		for _, m := range q.members {
			if l := f.state.sessions[m]; l != nil {
				if at, known := l.recentAcks.of(number); known {
					visit(m, at)
				}
			}
		}
	}
}
