package replica

// rules are those of SAFETY.md that are left out, so that tests can show that each is
// needed. The zero value leaves out none.
type rules uint

const (
	// ruleAll: a change is acknowledged once all members have it.
	ruleAll rules = 1 << iota
	// ruleOrder: a member takes in only what follows the last that it has.
	ruleOrder
	// ruleJoined: a member takes in only changes of rows that it has joined.
	ruleJoined
	// ruleEpoch: what a member has joined ends when its table says that the row has
	// another primary or another epoch.
	ruleEpoch
	// ruleRelease: who lags is waited for until the table has released it.
	ruleRelease
	// ruleCount: a learner counts before it is admitted.
	ruleCount
	// ruleFence: who has told how far it follows a primary takes in no more of it.
	ruleFence
	// ruleTail: a new primary brings the others to its tail before it serves.
	ruleTail
	// ruleKeep: what is above the high-water mark is kept for that.
	ruleKeep
	// ruleArrived: a backup is compared when it has what was written before.
	ruleArrived
	// ruleUnchanged: what was written in meanwhile is not compared.
	ruleUnchanged
	// ruleVerified: nobody throws a copy away, or gives it up, before another node has shown
	// that its own can be read.
	ruleVerified
	// ruleCopied: who lacks what the new primary got by a copy, and did not keep, learns
	// anew.
	ruleCopied
	// ruleKnown: who has lost what it knew of the term before brings nobody to where it is.
	ruleKnown
	// ruleFollowed: who has followed a row since it learned it takes nothing for granted.
	ruleFollowed
	// ruleOpened: a row changes hands, or bounds, once all members have joined it.
	ruleOpened
	// ruleCopyMark: what was to be joined before a copy began anew is not joined after that.
	ruleCopyMark
)

// enforced tells whether a rule is not left out.
func (out rules) enforced(r rules) bool { return out&r == 0 }
