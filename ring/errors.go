package ring

import "errors"

// Errors of members and of the input of [Strategy.Desired].
var (
	// ErrNoMembers: a placement needs at least one node.
	ErrNoMembers = errors.New("no nodes")
	// ErrDuplicate: two members have the same id.
	ErrDuplicate = errors.New("duplicate node")
	// ErrID: the id of a member is empty, too long or has characters that ids may
	// not have.
	ErrID = errors.New("bad node id")
	// ErrWeight: a weight is not a number above 0 and up to MaxWeight.
	ErrWeight = errors.New("bad weight")
	// ErrZone: the name of a zone is too long or has characters that it may not have.
	ErrZone = errors.New("bad zone")
	// ErrBackups: the number of backups is negative.
	ErrBackups = errors.New("bad number of backups")
	// ErrPresent: the present placement was not made by this strategy.
	ErrPresent = errors.New("not a placement of this strategy")
	// ErrPoints: a node, or all of them together, would have too many points.
	ErrPoints = errors.New("too many points")
	// ErrPins: a strategy without points of its own was given pinned ones, or they
	// leave a node without any.
	ErrPins = errors.New("bad pins")
	// ErrOverrides: overrides overlap, are too many, or name a node that cannot be one.
	ErrOverrides = errors.New("bad overrides")
)

// Errors of a [Placement] and of what is read from bytes.
var (
	// ErrMalformed: a text or binary form cannot be read.
	ErrMalformed = errors.New("malformed")
	// ErrTiling: the ranges of a placement do not cover every token exactly once.
	ErrTiling = errors.New("ranges do not tile the circle")
	// ErrOwners: a range lists a node twice, or copies without a primary.
	ErrOwners = errors.New("bad owners")
	// ErrSeats: a number of the [Seats] is both free and not, or its node is none.
	ErrSeats = errors.New("bad seats")
)
