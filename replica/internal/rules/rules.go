package rules

// rules are those of SAFETY.md that are left out, so that tests can show that each is
// needed. The zero value leaves out none.
type Set uint

const (
	// ruleAll: a change is acknowledged once all members have it.
	All Set = 1 << iota
	// ruleOrder: a member takes in only what follows the last that it has.
	Order
	// ruleJoined: a member takes in only changes of rows that it has joined.
	Joined
	// ruleEpoch: what a member has joined ends when its table says that the row has
	// another primary or another epoch.
	Epoch
	// ruleRelease: who lags is waited for until the table has released it.
	Release
	// ruleCount: a learner counts before it is admitted.
	Count
	// ruleFence: who has told how far it follows a primary takes in no more of it.
	Fence
	// ruleTail: a new primary brings the others to its tail before it serves.
	Tail
	// ruleKeep: what is above the high-water mark is kept for that.
	Keep
	// ruleArrived: a backup is compared when it has what was written before.
	Arrived
	// ruleUnchanged: what was written in meanwhile is not compared.
	Unchanged
	// ruleVerified: nobody throws a copy away, or gives it up, before another node has shown
	// that its own can be read.
	Verified
	// ruleCopied: who lacks what the new primary got by a copy, and did not keep, learns
	// anew.
	Copied
	// ruleKnown: who has lost what it knew of the term before brings nobody to where it is.
	Known
	// ruleFollowed: who has followed a row since it learned it takes nothing for granted.
	Followed
	// ruleOpened: a row changes hands, or bounds, once all members have joined it.
	Opened
	// ruleCopyMark: what was to be joined before a copy began anew is not joined after that.
	CopyMark
)

// enforced tells whether a rule is not left out.
func (out Set) Enforced(r Set) bool { return out&r == 0 }
