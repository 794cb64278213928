package members

import (
	"errors"
	"fmt"
	"time"
)

// Timing is how often nodes talk and how long they wait. All nodes of a cluster
// should have the same.
type Timing struct {
	ProbeInterval    time.Duration // between probes of a node, one other at a time; also until a probe has failed
	ProbeTimeout     time.Duration // until others and TCP are asked for help with a probe
	SuspicionMult    int           // a suspect is failed after so many probe intervals, see the package comment
	GossipInterval   time.Duration // between messages to a few others
	PushPullInterval time.Duration // between comparisons of everything with one other
	StreamTimeout    time.Duration // of a TCP connection: to connect, and to read and write
	Reconnect        time.Duration // between attempts to reach failed nodes
	LeaveTimeout     time.Duration // that a call waits for its news to be sent; leaving sends two
	LeaveLinger      time.Duration // time that a node still answers after leaving

	// JoinMin and JoinMax bound the wait between two attempts to find peers, which
	// doubles while this node is alone. Once it is not, it looks every JoinMax for
	// those of its Join list that it has not met.
	JoinMin, JoinMax time.Duration
	// Forget is how long an earlier start of a node that is there again is kept.
	Forget time.Duration
}

// LAN is the default: a local network or one region of a cloud.
func LAN() Timing {
	return Timing{
		ProbeInterval:    time.Second,
		ProbeTimeout:     500 * time.Millisecond,
		SuspicionMult:    4,
		GossipInterval:   200 * time.Millisecond,
		PushPullInterval: 30 * time.Second,
		StreamTimeout:    10 * time.Second,
		Reconnect:        30 * time.Second,
		LeaveTimeout:     5 * time.Second,
		LeaveLinger:      time.Second,
		JoinMin:          200 * time.Millisecond,
		JoinMax:          30 * time.Second,
		Forget:           time.Minute,
	}
}

// Fast is for tests on one machine: a failure is seen in well under a second, and
// a busy machine may be taken for one.
func Fast() Timing {
	return Timing{
		ProbeInterval:    100 * time.Millisecond,
		ProbeTimeout:     50 * time.Millisecond,
		SuspicionMult:    3,
		GossipInterval:   10 * time.Millisecond,
		PushPullInterval: 500 * time.Millisecond,
		StreamTimeout:    2 * time.Second,
		Reconnect:        200 * time.Millisecond,
		LeaveTimeout:     500 * time.Millisecond,
		LeaveLinger:      50 * time.Millisecond,
		JoinMin:          10 * time.Millisecond,
		JoinMax:          200 * time.Millisecond,
		Forget:           time.Second,
	}
}

func (t Timing) validate() error {
	var errs []error
	for _, d := range []struct {
		name string
		d    time.Duration
	}{
		{"probe interval", t.ProbeInterval}, {"probe time-out", t.ProbeTimeout}, {"gossip interval", t.GossipInterval},
		{"push/pull interval", t.PushPullInterval}, {"stream time-out", t.StreamTimeout}, {"reconnect interval", t.Reconnect},
		{"leave time-out", t.LeaveTimeout}, {"leave linger", t.LeaveLinger}, {"least join wait", t.JoinMin},
		{"longest join wait", t.JoinMax}, {"time to forget", t.Forget},
	} {
		if d.d <= 0 {
			errs = append(errs, fmt.Errorf("members: %s %v is not above 0", d.name, d.d))
		}
	}
	if t.SuspicionMult < 1 {
		errs = append(errs, fmt.Errorf("members: suspicion multiplier %d is not above 0", t.SuspicionMult))
	}
	if t.JoinMax < t.JoinMin {
		errs = append(errs, fmt.Errorf("members: longest join wait %v is below the least, %v", t.JoinMax, t.JoinMin))
	}
	return errors.Join(errs...)
}
