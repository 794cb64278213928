package relay

// A Status says what became of one forwarded request. It travels beside the reply, so that
// no bytes which a command, a script or a value can choose are ever taken for it.
type Status byte

const (
	// Run: the request was executed, and the reply is its own, an error of it included.
	Run Status = iota
	// NotRun: nothing of the request was executed, so it may be sent again.
	NotRun
	// Unknown: the request may have been executed, or may have been in part.
	Unknown
	// Waits: the request waits at the node, as its remote waiter.
	Waits
	// Left: the remote waiter waits no longer, and was not served.
	Left
	// Gone: the node knows no such remote waiter; the reply names the node's run.
	Gone
	// Late: as NotRun, since the request was given up before it could begin, by the
	// serving node's clock.
	Late
)

// HasNotRun tells that nothing of the request was executed, so that it may be sent again.
func (s Status) HasNotRun() bool { return s == NotRun || s == Late }

// Status is that of reply i.
func (r *Replies) Status(i int) Status {
	if i >= len(r.Statuses) {
		return Run
	}
	return r.Statuses[i]
}

// SetStatus sets the status of reply i. Replies behind the end of the list were run.
func SetStatus(list []Status, i int, s Status) []Status {
	for len(list) <= i {
		list = append(list, Run)
	}
	list[i] = s
	return list
}
