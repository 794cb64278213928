package bus

import (
	"errors"
	"strings"
)

// What a bus as a whole answers.
var (
	// ErrClosed: the bus was closed, before or during the call.
	ErrClosed = errors.New("bus: closed")
	// ErrProtocol: what came is no handshake of a bus, or breaks its rules.
	ErrProtocol = errors.New("bus: not the bus protocol")
)

// Why a handshake was refused. One refusal can match several of them.
var (
	ErrVersion    = errors.New("bus: other protocol version")
	ErrCluster    = errors.New("bus: other cluster")
	ErrGeneration = errors.New("bus: other cluster generation")
	ErrStrategy   = errors.New("bus: other placement strategy")
	ErrHash       = errors.New("bus: other key hash")
	ErrKey        = errors.New("bus: other cluster key")
	ErrID         = errors.New("bus: not the node that was dialled")
	ErrSameID     = errors.New("bus: both sides have the same node id")
	ErrPurpose    = errors.New("bus: purpose not served")
	ErrTLS        = errors.New("bus: no TLS, or no certificate of the cluster's authority")
)

// Sealed connections.
var (
	// ErrTampered: a record was changed, dropped, repeated or made up on its way.
	ErrTampered = errors.New("bus: record fails authentication")
)

// A Reason is a set of causes for refusing a handshake, one bit each.
type Reason uint16

// The causes, as they travel.
const (
	reasonVersion Reason = 1 << iota
	reasonCluster
	reasonGeneration
	reasonStrategy
	reasonHash
	reasonKey
	reasonID
	reasonSameID
	reasonPurpose
	reasonTLS
)

// causes lists the sentinel of each bit, from the lowest.
var causes = []struct {
	err  error
	name string
}{
	{ErrVersion, "version"},
	{ErrCluster, "cluster"},
	{ErrGeneration, "generation"},
	{ErrStrategy, "strategy"},
	{ErrHash, "hash"},
	{ErrKey, "key"},
	{ErrID, "id"},
	{ErrSameID, "same_id"},
	{ErrPurpose, "purpose"},
	{ErrTLS, "tls"},
}

// String lists the causes.
func (r Reason) String() string {
	var names []string
	for i, c := range causes {
		if r&(1<<i) != 0 {
			names = append(names, c.name)
		}
	}
	if names == nil {
		return "unknown"
	}
	return strings.Join(names, "+")
}

// A RefusedError is a handshake that one side refused. It matches (errors.Is) the
// sentinel of each of its reasons.
type RefusedError struct {
	Reason Reason
	// Text explains every reason. If ByPeer, the peer wrote it; it is then
	// cut to a few hundred printable characters.
	Text string
	// ByPeer reports that the peer refused, not this node.
	ByPeer bool
}

// Error returns which side refused the other, and why.
func (e *RefusedError) Error() string {
	text := e.Text
	if text == "" {
		text = e.Reason.String()
	}
	if e.ByPeer {
		return "refused by the peer: " + text
	}
	return "peer refused: " + text
}

// Is makes errors.Is find the sentinels.
func (e *RefusedError) Is(target error) bool {
	for i, c := range causes {
		if e.Reason&(1<<i) != 0 && target == c.err {
			return true
		}
	}
	return false
}
