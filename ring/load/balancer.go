package load

import (
	"maps"
	"time"
)

const (
	// Interval is how often a [Balancer] is to be given the profiles.
	Interval = 10 * time.Second
	// looks is how many profiles in a row must show the same load. The oldest of them then is as old as
	// the time constant of the rates several times over.
	looks = 7
	// trigger is the ratio of the busiest node to the mean above which something is done. It is well above
	// [Aim], so that what follows from a decision is no reason for the next one.
	trigger = 1.25
	// leastGain is how much lower the ratio has to become.
	leastGain = 0.1
	// The pause after a decision doubles with each decision. It is back at its least if the load stays even
	// for the longest pause beyond it.
	leastPause = 2 * time.Minute
	mostPause  = 32 * time.Minute
)

// A Balancer decides when a proposal is carried out: only for a load that lasts, and seldom if the load keeps
// moving. It belongs to one goroutine.
type Balancer struct {
	recent []map[string]*Profile // the newest last
	next   time.Time             // the earliest time of the next decision
	pause  time.Duration
}

// Reset forgets what was seen. The node that decides has changed, or the placement has: the first decision is
// a pause away.
func (b *Balancer) Reset(now time.Time) {
	b.recent = nil
	if b.pause == 0 {
		b.pause = leastPause
		b.next = now.Add(leastPause)
	}
}

// Look takes what is known of the cluster now, and returns the proposal to carry out, nil if there is none. Its
// error says why nothing can be proposed.
func (b *Balancer) Look(now time.Time, c Cluster) (*Proposal, error) {
	if len(b.recent) > 0 && !sameNodes(b.recent[0], c.Profiles) {
		b.recent = nil
	}
	b.recent = append(b.recent, c.Profiles)
	if len(b.recent) > looks {
		b.recent = b.recent[1:]
	}
	if len(b.recent) < looks || now.Before(b.next) {
		return nil, nil
	}
	c.Profiles = b.sustained()
	p, err := Propose(c)
	if err != nil || p.Before < trigger || p.Before-p.After < leastGain || p.Moves == 0 {
		return nil, err
	}
	b.decide(now)
	return p, nil
}

// decide notes a decision and chooses the time of the next one.
func (b *Balancer) decide(now time.Time) {
	if b.pause == 0 || now.Sub(b.next) > mostPause {
		b.pause = leastPause
	} else {
		b.pause = min(2*b.pause, mostPause)
	}
	b.next = now.Add(b.pause)
	b.recent = nil // what follows is another placement's load
}

// sustained returns the load that all recent profiles have.
func (b *Balancer) sustained() map[string]*Profile {
	all := make(map[string]*Profile)
	for node := range b.recent[0] {
		var of []*Profile
		for _, profiles := range b.recent {
			of = append(of, profiles[node])
		}
		all[node] = Sustained(of...)
	}
	return all
}

func sameNodes(a, b map[string]*Profile) bool {
	return maps.EqualFunc(a, b, func(*Profile, *Profile) bool { return true })
}
