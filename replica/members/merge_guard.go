package members

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/serf/serf"
)

// A mergeGuard decides which nodes belong to this cluster. Serf asks it of all members of a peer before
// it joins that peer or lets it join, and of each member that it hears of. Both ends
// have the same rule, so both refuse. It is asked while Serf holds locks: it may
// neither wait nor call Serf.
type mergeGuard struct {
	own     *atomic.Pointer[tags]
	refused func(err error)
}

var _ serf.MergeDelegate = (*mergeGuard)(nil)

// NotifyMerge implements [serf.MergeDelegate].
func (g *mergeGuard) NotifyMerge(peers []*serf.Member) error {
	for _, peer := range peers {
		if peer.Status == serf.StatusLeft {
			continue
		}
		if isLook(peer) {
			return errLooks
		}
		if err := g.check(peer); err != nil {
			g.refused(err)
			return err
		}
	}
	return nil
}

func (g *mergeGuard) check(peer *serf.Member) error {
	where := fmt.Sprintf("%.300s:%d", peer.Addr, peer.Port)
	l, err := parseStartID(peer.Name)
	if err != nil {
		return fmt.Errorf("%w: node at %s: %w", ErrStranger, where, err)
	}
	t, err := decodeTags(peer.Tags[tagKey])
	if err != nil {
		return fmt.Errorf("%w: node %s at %s: %w", ErrStranger, l.id, where, err)
	}
	own := g.own.Load()
	if err := own.checkCompatible(t); err != nil {
		return fmt.Errorf("%w: node %s at %s %w", ErrStranger, l.id, where, err)
	}
	// A failed member may belong to a cluster that no longer exists, and does no harm.
	if mine, its := own.generation, t.generation; mine != its && mine != 0 && its != 0 && peer.Status != serf.StatusFailed {
		return fmt.Errorf("%w: node %s at %s: %w: it is generation %d of cluster %.80q, here it is %d: two clusters of one name are never merged; give one of them another name, or start its nodes with empty directories to join here; so also the nodes that ringside recover has left out",
			ErrStranger, l.id, where, ErrGeneration, its, t.cluster, mine)
	}
	return nil
}

// checkCompatible names every difference, since an operator mends them one by one otherwise.
func (t tags) checkCompatible(peer tags) error {
	var differs []string
	for _, d := range []struct{ name, own, peer string }{
		{"cluster", t.cluster, peer.cluster},
		{"strategy", t.strategy, peer.strategy},
		{"hash", t.hash, peer.hash},
	} {
		if d.own != d.peer {
			differs = append(differs, fmt.Sprintf("%s %.80q, here it is %.80q", d.name, d.peer, d.own))
		}
	}
	if peer.oldest > t.protocol || peer.protocol < t.oldest {
		differs = append(differs, fmt.Sprintf("gossip protocol %d (from %d), here it is %d (from %d)",
			peer.protocol, peer.oldest, t.protocol, t.oldest))
	}
	if differs == nil {
		return nil
	}
	return fmt.Errorf("has %s", strings.Join(differs, "; "))
}

// keyFaults are memberlist's words for a peer that has another key or that, alone or
// as the only one not, has none. It has no error values for them.
var keyFaults = []string{
	"no installed keys could decrypt the message",
	"remote state is encrypted and encryption is not configured",
	"encryption is configured but remote state is not encrypted",
}

// isKeyFault reports whether an error of a join is one of keys.
func isKeyFault(text string) bool {
	text = strings.ToLower(text)
	for _, fault := range keyFaults {
		if strings.Contains(text, fault) {
			return true
		}
	}
	return false
}

// inboundKeyFault makes an error of memberlist's log line about a peer that
// connected with another key; nil if the line is about something else.
func inboundKeyFault(line string) error {
	if !strings.HasPrefix(line, "failed to receive: ") || !isKeyFault(line) {
		return nil
	}
	from := "an unknown address"
	if i := strings.LastIndex(line, "from="); i >= 0 {
		from = line[i+len("from="):]
	}
	return fmt.Errorf("%w: node that connected from %s: %w", ErrStranger, from, ErrKey)
}
