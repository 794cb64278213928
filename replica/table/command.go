package table

import "fmt"

// A Command is one change of the table, decided as a whole: what it compares still
// holds and all of it is done, or it is refused and nothing is. The types are
// [Found], [Register], [SetWeight], [SetPins], [Leave], [Forget], [Plan],
// [SetPhase], [CancelHandoff], [AddLearner], [DropLearner], [Admit], [CutOver],
// [Release], [Split], [Merge], [Failover], [Recreate], [SetMoves], [SetBackups], [Renew],
// [Compared], [SetStrategy], [EndSwitch], [SetLoadBalance], [SetDatabases],
// [SetPolicy] and [SetValues], each by its pointer.
// A command may not be changed once it is handed over.
type Command interface {
	// kind is the command's number in binary forms; it never changes.
	kind() kind
	// code reads or writes the fields.
	code(c *codec)
	// apply changes the draft or says why not; a draft that was refused is thrown
	// away.
	apply(d *draft) error
}

type kind uint8

const (
	kindFound kind = iota
	kindRegister
	kindSetWeight
	kindSetPins
	kindLeave
	kindForget
	kindPlan
	kindSetPhase
	kindCancelHandoff
	kindAddLearner
	kindDropLearner
	kindAdmit
	kindCutOver
	kindRelease
	kindSplit
	kindMerge
	kindFailover
	kindRecreate
	kindSetMoves
	kindSetBackups
	kindRenew
	kindCompared
	kindSetStrategy
	kindEndSwitch
	kindSetLoadBalance
	kindSetDatabases
	kindSetPolicy
	kindSetValues
	lastKind = kindSetValues
)

func (k kind) make() Command {
	switch k {
	case kindFound:
		return new(Found)
	case kindRegister:
		return new(Register)
	case kindSetWeight:
		return new(SetWeight)
	case kindSetPins:
		return new(SetPins)
	case kindLeave:
		return new(Leave)
	case kindForget:
		return new(Forget)
	case kindPlan:
		return new(Plan)
	case kindSetPhase:
		return new(SetPhase)
	case kindCancelHandoff:
		return new(CancelHandoff)
	case kindAddLearner:
		return new(AddLearner)
	case kindDropLearner:
		return new(DropLearner)
	case kindAdmit:
		return new(Admit)
	case kindCutOver:
		return new(CutOver)
	case kindRelease:
		return new(Release)
	case kindSplit:
		return new(Split)
	case kindMerge:
		return new(Merge)
	case kindFailover:
		return new(Failover)
	case kindRecreate:
		return new(Recreate)
	case kindSetMoves:
		return new(SetMoves)
	case kindSetBackups:
		return new(SetBackups)
	case kindRenew:
		return new(Renew)
	case kindCompared:
		return new(Compared)
	case kindSetStrategy:
		return new(SetStrategy)
	case kindEndSwitch:
		return new(EndSwitch)
	case kindSetLoadBalance:
		return new(SetLoadBalance)
	case kindSetDatabases:
		return new(SetDatabases)
	case kindSetPolicy:
		return new(SetPolicy)
	default:
		return new(SetValues)
	}
}

// commandVersion is that of the binary form of commands, which lies in the Raft logs
// of all nodes. The form is that byte, the kind's, and the fields.
const commandVersion = 1

// Encode writes a command's binary form.
func Encode(command Command) []byte {
	c := writer()
	c.buf = append(c.buf, commandVersion, byte(command.kind()))
	command.code(c)
	return c.buf
}

// Decode reads what [Encode] writes. It takes memory in proportion to the bytes that
// it is given, whatever they say, and its error wraps ErrMalformed.
func Decode(data []byte) (Command, error) {
	if len(data) < 2 || data[0] != commandVersion || data[1] > byte(lastKind) {
		return nil, fmt.Errorf("%w: no command of version %d", ErrMalformed, commandVersion)
	}
	command := kind(data[1]).make()
	c := reader(data[2:])
	command.code(c)
	if err := c.finish(); err != nil {
		return nil, fmt.Errorf("%T: %w", command, err)
	}
	return command, nil
}
