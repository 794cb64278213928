package rules

// A Set names rules of SAFETY.md that are disabled, so that tests can show that each is needed. The
// zero value disables none.
type Set uint

const (
	// All: a change is acknowledged once all members have it.
	All Set = 1 << iota
	// Order: a backup accepts only the frame that follows the last one.
	Order
	// Joined: a backup accepts only changes of rows that it has joined.
	Joined
	// Epoch: a joined row ends when the backup's table has another primary or epoch for it.
	Epoch
	// Release: a lagging member is waited for until the table has released it.
	Release
	// Count: a learner counts before it is admitted.
	Count
	// Fence: a backup that has answered a fence request rejects all further frames of that session.
	Fence
	// Tail: a new primary brings the other members to its tail before it serves.
	Tail
	// Keep: changes above the high-water mark are retained for that.
	Keep
	// Arrived: a backup is compared once it has all earlier changes.
	Arrived
	// Unchanged: key spans with concurrent writes are not compared.
	Unchanged
	// Verified: a copy is discarded or handed over only after another node has read its own.
	Verified
	// Copied: a member that lacks changes which the new primary got by a copy becomes a learner.
	Copied
	// Known: a node that has lost what it knew of the previous term brings no member up to date.
	Known
	// Followed: a node that has followed a row since it learned it compares itself with the
	// members.
	Followed
	// Opened: a row changes its primary or its bounds only after all members have joined it.
	Opened
	// CopyMark: a join that is older than a copy is refused.
	CopyMark
)

// Enforced reports whether a rule is not disabled.
func (out Set) Enforced(r Set) bool { return out&r == 0 }
