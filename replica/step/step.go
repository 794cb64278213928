package step

// A Step is a point on the way of a change at which it matters that a node ends there:
// what comes before has happened, what comes after never does. Tests end nodes at each.
type Step string

// The steps of a write. The first and the last three are the primary's.
const (
	WriteGiven Step = "write: given to the members" // it is committed here, and not sent
	WriteSent  Step = "write: sent"
	WriteTaken Step = "write: taken in by a member" // and not acknowledged
	WriteAcked Step = "write: acknowledged by a member"
	WriteFreed Step = "write: acknowledged by all" // and not replied
)

// The steps of a set that gets smaller, or larger: of the primary.
const (
	ShrinkDue      Step = "shrink: due"
	ShrinkDecided  Step = "shrink: decided"
	GrowthCounted  Step = "growth: the learner counts"
	GrowthAdmitted Step = "growth: admitted"
)

// The steps of a failover: of the leader, of a member that is asked what it has, and of
// the new primary.
const (
	FailoverFenced   Step = "failover: a member takes in nothing more"
	FailoverAnswered Step = "failover: the members have answered"
	FailoverDecided  Step = "failover: decided"
	FailoverCompared Step = "failover: the new primary knows what a member lacks"
	FailoverJoined   Step = "failover: a member is where the new primary is"
)

// The steps of a handoff, and of a change of bounds: of the source but for HandoffTaken.
const (
	HandoffTaken   Step = "handoff: the target begins to receive"
	HandoffStill   Step = "handoff: still"
	HandoffDecided Step = "handoff: decided"
	HandoffDropped Step = "handoff: what lay at the source is dropped"
	SplitStill     Step = "split: still" // or a merge
	SplitDecided   Step = "split: decided"
	PromotionStill Step = "promotion: still" // of a backup, as planned
	PromotionDone  Step = "promotion: decided"
)

// Steps are all of the above, in order.
var Steps = []Step{
	WriteGiven, WriteSent, WriteTaken, WriteAcked, WriteFreed,
	ShrinkDue, ShrinkDecided, GrowthCounted, GrowthAdmitted,
	FailoverFenced, FailoverAnswered, FailoverDecided, FailoverCompared, FailoverJoined,
	HandoffTaken, HandoffStill, HandoffDecided, HandoffDropped, SplitStill, SplitDecided,
	PromotionStill, PromotionDone,
}
