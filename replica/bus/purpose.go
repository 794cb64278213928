package bus

import "fmt"

// Purpose is what a connection is for; the dialler says it in its hello.
type Purpose byte

// The purposes. A purpose without a handler is refused, so that a newer node learns
// that an older one does not know it.
const (
	Raft    Purpose = 1 // consensus on the placement
	Stream  Purpose = 2 // writes and copies, from primaries to backups and learners
	Forward Purpose = 3 // clients' commands, from the node that got them to the owner
	Control Purpose = 4 // commands for the table, to the node that leads
	Ask     Purpose = 5 // what a node alone knows, for reports on the cluster
	Feed    Purpose = 6 // what a primary writes, to those whose word it needs
)

// String returns the name of the purpose, as logs have it.
func (p Purpose) String() string {
	switch p {
	case Raft:
		return "raft"
	case Stream:
		return "stream"
	case Forward:
		return "forward"
	case Control:
		return "control"
	case Ask:
		return "ask"
	case Feed:
		return "feed"
	}
	return fmt.Sprintf("purpose %d", byte(p))
}
