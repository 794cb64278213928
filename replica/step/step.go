package step

// A Step is a point in an operation at which tests stop a node: what comes before it has happened,
// what comes after it does not.
type Step string

// Steps of a write. The first and the last three are reached on the primary.
const (
	WriteGiven Step = "write: given to the members" // committed here, and not sent
	WriteSent  Step = "write: sent"
	WriteTaken Step = "write: taken in by a member" // and not acknowledged
	WriteAcked Step = "write: acknowledged by a member"
	WriteFreed Step = "write: acknowledged by all" // and not replied
)

// Steps of a shrinking or growing set, on the primary.
const (
	ShrinkDue      Step = "shrink: due"
	ShrinkDecided  Step = "shrink: decided"
	GrowthCounted  Step = "growth: the learner counts"
	GrowthAdmitted Step = "growth: admitted"
)

// Steps of a failover: on the leader, on an asked member, and on the new primary.
const (
	FailoverFenced   Step = "failover: a member takes in nothing more"
	FailoverAnswered Step = "failover: the members have answered"
	FailoverDecided  Step = "failover: decided"
	FailoverCompared Step = "failover: the new primary knows what a member lacks"
	FailoverJoined   Step = "failover: a member is where the new primary is"
)

// RecreationHeld is the step of a recreation, on the leader, from which on the nodes that had the
// ranges get no lease.
const RecreationHeld Step = "recreation: no lease for the nodes that had the ranges"

// Steps of a handoff and of a change of bounds: on the source, except HandoffTaken.
const (
	HandoffTaken   Step = "handoff: the target begins to receive"
	HandoffStill   Step = "handoff: still"
	HandoffDecided Step = "handoff: decided"
	HandoffDropped Step = "handoff: what lay at the source is dropped"
	SplitStill     Step = "split: still" // or of a merge
	SplitDecided   Step = "split: decided"
	PromotionStill Step = "promotion: still" // of a backup, as planned
	PromotionDone  Step = "promotion: decided"
)

// Steps are those of writes, sets, failovers and handoffs, in order.
var Steps = []Step{
	WriteGiven, WriteSent, WriteTaken, WriteAcked, WriteFreed,
	ShrinkDue, ShrinkDecided, GrowthCounted, GrowthAdmitted,
	FailoverFenced, FailoverAnswered, FailoverDecided, FailoverCompared, FailoverJoined,
	HandoffTaken, HandoffStill, HandoffDecided, HandoffDropped, SplitStill, SplitDecided,
	PromotionStill, PromotionDone,
}
