package bus

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
)

// The versions of the bus protocol: of the handshake, of the records and of what travels on the
// connections behind them.
//
// Version 2: replies to forwarded commands carry a mark each.
// Version 3: forwarded commands carry a deadline on the clock of the node that serves them, which
// tells its time.
// Version 4: a hello names the range of versions that its node speaks. What travels behind the
// handshake is that of version 3.
// Version 5: the table may hold a switch of the strategy. What travels is that of version 4.
// Version 6: the table may hold overrides that even the load. What travels is that of version 4.
// Version 7: the table may hold seats. What travels is that of version 4.
// Version 8: the table may hold settings of algorithms on cells. What travels is that of version 4.
// Version 9: the table may hold databases. What travels is that of version 4; keys may be of databases.
// Version 10: the table may hold policies of databases. What travels is that of version 4; keys may be of
// databases that are kept together.
// Version 11: the table may hold agreed values, as users. What travels is that of version 4; RING AS may be
// in front of a forwarded request.
// Version 12: forwarded commands may say that they are no use of their keys (CLIENT NO-TOUCH).
// Version 13: the table may hold an order of databases, as an agreed value. Forwarded commands carry how many
// swaps of databases their sender knows of, if there were any.
// Version 14: the agreed values may hold zones of nodes. What travels is that of version 13.
// Version 15: key events may be of the class of all changed keys, and RING VALUE is forwarded.
// Version 16: forwarded commands may carry the context of a trace, and say that an error undoes what they do.
// Version 17: the agreed values may hold policies of databases whose keys move. What travels is that of version 16; RING
// FETCH, PLACE, DROP and STRIDE are sent while keys move.
// Version 18: the agreed values may say that there are values of the types JSON and filter. What travels is that of
// version 17; entries and payloads may be of these types.
// Version 19: forwarded commands may say that they are parts of one that their sender counts.
// Version 20: the agreed values may say that lists have chunks. What travels is that of version 19; entries may be chunks.
// Version 21: the agreed values may say that the cluster is a replica of another server. What travels is that of version 20.
//
// Each side names the oldest and the newest version that it speaks, and both use the lower one
// of the two newest: see [Peer.Version]. So nodes of two builds form one cluster while their
// ranges meet, and a cluster is upgraded node by node.
//
// To change what travels between nodes: raise newestVersion, add a line above, and send the new
// form only where Peer.Version of the connection is at least the new one; keep the old form for
// all others. Raise oldestVersion, and remove the old form, when no build that speaks only older
// versions has to be upgraded without a stop any more, a minor release later at the earliest.
//
// Frames keep their outer form in every version, so that even a stranger's refusal can be read.
// From version 4 on a hello begins with both versions and only ever grows at its end.
const (
	oldestVersion = 3
	newestVersion = 21
	// SwitchVersion is the first one whose nodes understand a table with a switched strategy.
	SwitchVersion = 5
	// LoadVersion is the first one whose nodes understand a table with load balancing.
	LoadVersion = 6
	// SeatsVersion is the first one whose nodes understand a table with seats.
	SeatsVersion = 7
	// TunedVersion is the first one whose nodes understand a table with settings of algorithms on cells.
	TunedVersion = 8
	// DatabasesVersion is the first one whose nodes understand a table with databases, and their keys.
	DatabasesVersion = 9
	// PoliciesVersion is the first one whose nodes understand policies of databases, and the keys of one
	// that is kept together.
	PoliciesVersion = 10
	// ValuesVersion is the first one whose nodes understand agreed values, among them users.
	ValuesVersion = 11
	// SwapsVersion is the first one whose nodes understand an order of databases.
	SwapsVersion = 13
	// ZonesVersion is the first one whose nodes place copies by zones.
	ZonesVersion = 14
	// ChangesVersion is the first one whose nodes tell of all keys that change, for replicas of Redis.
	ChangesVersion = 15
	// MovesVersion is the first one whose nodes move the keys of a database whose policy changes.
	MovesVersion = 17
	// TypesVersion is the first one whose nodes know JSON values and filters.
	TypesVersion = 18
	// ChunksVersion is the first one whose nodes know lists with chunks.
	ChunksVersion = 20
	// ReplicaofVersion is the first one whose nodes refuse clients' writes in a cluster that is a replica of another server.
	ReplicaofVersion = 21
	// unrangedVersion is the last one whose hellos name no range, and whose nodes refuse all
	// others.
	unrangedVersion = 3
)

// Versions are the oldest and the newest version of the bus protocol that a node speaks.
type Versions struct{ Oldest, Newest uint16 }

// agree returns the version that two nodes use, or 0 if there is none that both speak.
func (v Versions) agree(other Versions) uint16 {
	if n := min(v.Newest, other.Newest); n >= v.Oldest && n >= other.Oldest {
		return n
	}
	return 0
}

// String returns the range of versions for error texts.
func (v Versions) String() string {
	if v.Oldest == v.Newest {
		return fmt.Sprintf("version %d", v.Newest)
	}
	return fmt.Sprintf("versions %d to %d", v.Oldest, v.Newest)
}

const (
	nonceSize = 32
	shareSize = 32 // an X25519 public key
)

// A hello is what one side says of itself.
type hello struct {
	versions    Versions
	ranged      bool // it travels with its versions, not as one of unrangedVersion
	keyed       bool
	purpose     Purpose // of the dialler; the acceptor repeats it
	generation  uint64
	incarnation uint64
	nonce       [nonceSize]byte
	share       [shareSize]byte // zero unless keyed
	cluster     string
	strategy    string
	hash        string
	id          string
	wantID      string // the id that the dialler means to reach; empty: any
}

func (c *Config) hello(purpose Purpose, wantID string, ranged bool) hello {
	versions := c.Versions
	if c.Needs != nil {
		versions.Oldest = min(max(versions.Oldest, c.Needs()), versions.Newest)
	}
	h := hello{
		versions:    versions,
		ranged:      ranged,
		keyed:       len(c.Key) > 0,
		purpose:     purpose,
		generation:  c.Generation(purpose),
		incarnation: c.Incarnation,
		cluster:     c.Cluster,
		strategy:    c.Strategy,
		hash:        c.Hash,
		id:          c.ID,
		wantID:      wantID,
	}
	_, _ = rand.Read(h.nonce[:]) // never fails
	return h
}

// fixedHello is the length of what every hello has before its strings, but for the oldest version
// of those that name it.
const fixedHello = 2 + 1 + 1 + 8 + 8 + nonceSize + shareSize

// encode writes the newest version, the oldest if it is ranged, flags, purpose, generation, incarnation, nonce, share, and
// the strings, each after its length in a byte. Numbers are big-endian.
func (h *hello) encode() []byte {
	var b []byte
	if h.ranged {
		b = binary.BigEndian.AppendUint16(b, h.versions.Newest)
		b = binary.BigEndian.AppendUint16(b, h.versions.Oldest)
	} else {
		b = binary.BigEndian.AppendUint16(b, unrangedVersion)
	}
	var flags byte
	if h.keyed {
		flags = 1
	}
	b = append(b, flags, byte(h.purpose))
	b = binary.BigEndian.AppendUint64(b, h.generation)
	b = binary.BigEndian.AppendUint64(b, h.incarnation)
	b = append(b, h.nonce[:]...)
	b = append(b, h.share[:]...)
	for _, s := range []string{h.cluster, h.strategy, h.hash, h.id, h.wantID} {
		b = append(b, byte(len(s)))
		b = append(b, s...)
	}
	return b
}

// decodeHello reads a hello for a node that speaks versions up to newest. Of one that such a
// node cannot read it reads the version alone.
func decodeHello(b []byte, newest uint16) (hello, error) {
	var h hello
	if len(b) < 2 {
		return h, fmt.Errorf("%w: hello of %d bytes", ErrProtocol, len(b))
	}
	h.versions.Newest = binary.BigEndian.Uint16(b)
	h.versions.Oldest = h.versions.Newest
	if h.ranged = h.versions.Newest > unrangedVersion; h.ranged {
		if newest <= unrangedVersion {
			return h, nil
		}
		if len(b) < 4 {
			return h, fmt.Errorf("%w: hello of %d bytes", ErrProtocol, len(b))
		}
		h.versions.Oldest = binary.BigEndian.Uint16(b[2:])
		if h.versions.Oldest > h.versions.Newest {
			return h, fmt.Errorf("%w: hello with %s", ErrProtocol, h.versions)
		}
		b = b[2:]
	} else if h.versions.Newest != unrangedVersion {
		return h, nil
	}
	if len(b) < fixedHello {
		return h, fmt.Errorf("%w: hello of %d bytes", ErrProtocol, len(b))
	}
	later := h.versions.Newest > newest // it may have more to say
	if b[2] > 1 && !later {
		return h, fmt.Errorf("%w: unknown flags %#x", ErrProtocol, b[2])
	}
	h.keyed = b[2]&1 == 1
	h.purpose = Purpose(b[3])
	h.generation = binary.BigEndian.Uint64(b[4:])
	h.incarnation = binary.BigEndian.Uint64(b[12:])
	copy(h.nonce[:], b[20:])
	copy(h.share[:], b[20+nonceSize:])
	rest := b[fixedHello:]
	for _, s := range []*string{&h.cluster, &h.strategy, &h.hash, &h.id, &h.wantID} {
		if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
			return h, fmt.Errorf("%w: hello is cut short", ErrProtocol)
		}
		n := int(rest[0])
		*s = string(rest[1 : 1+n])
		rest = rest[1+n:]
	}
	if len(rest) > 0 && !later {
		return h, fmt.Errorf("%w: %d bytes after the hello", ErrProtocol, len(rest))
	}
	if h.id == "" {
		return h, fmt.Errorf("%w: hello without a node id", ErrProtocol)
	}
	return h, nil
}

// compare finds every reason why two sides do not belong together. The texts name
// both, since either may come to read them.
func compare(mine, theirs *hello) (Reason, string) {
	if mine.versions.agree(theirs.versions) == 0 {
		return reasonVersion, fmt.Sprintf("node %q speaks %s of the bus protocol, the peer %s: upgrade the older one to a build in between", mine.id, mine.versions, theirs.versions)
	}
	var reason Reason
	var texts []string
	differ := func(r Reason, format string, args ...any) {
		reason |= r
		texts = append(texts, fmt.Sprintf(format, args...))
	}
	strs := func(r Reason, what, m, t string) {
		if m != t {
			differ(r, "%s is %q at node %q, %q at node %q", what, m, mine.id, t, theirs.id)
		}
	}
	strs(reasonCluster, "the cluster", mine.cluster, theirs.cluster)
	strs(reasonStrategy, "the strategy", mine.strategy, theirs.strategy)
	strs(reasonHash, "the hash", mine.hash, theirs.hash)
	if m, t := mine.generation, theirs.generation; m != t && m != 0 && t != 0 {
		differ(reasonGeneration, "the cluster's generation is %d at node %q, %d at node %q: two clusters of one name, which are never merged (a node that ringside recover has left out starts with an empty directory)", m, mine.id, t, theirs.id)
	} else if mine.purpose == Raft && (m == 0 || t == 0) {
		// Two clusters may want the same newcomer. Once it has chosen, the other one is
		// refused; a connection from before would go on to bring that one's log.
		without := mine.id
		if m != 0 {
			without = theirs.id
		}
		differ(reasonGeneration, "node %q is in no cluster yet", without)
	}
	if mine.keyed != theirs.keyed {
		with, without := mine.id, theirs.id
		if theirs.keyed {
			with, without = without, with
		}
		differ(reasonKey, "node %q has a cluster key, or a password in its place, node %q has none", with, without)
	}
	if mine.wantID != "" && mine.wantID != theirs.id {
		differ(reasonID, "node %q was dialled, node %q answered", mine.wantID, theirs.id)
	}
	if theirs.wantID != "" && theirs.wantID != mine.id {
		differ(reasonID, "node %q was dialled, node %q answered", theirs.wantID, mine.id)
	}
	if mine.id == theirs.id {
		differ(reasonSameID, "both sides are node %q: it dialled itself, or another one has its id", mine.id)
	}
	if mine.nonce == theirs.nonce {
		// No other node draws the same 32 bytes: this is an echo.
		differ(reasonSameID, "the peer sends back what it is sent")
	}
	return reason, strings.Join(texts, "; ")
}

// printable cuts a text from outside to what may stand in an error and in a log.
func printable(text []byte) string {
	const limit = 512
	if len(text) > limit {
		text = text[:limit]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' || (r >= 0x80 && r < 0xa0) {
			return '?'
		}
		return r
	}, string(bytes.ToValidUTF8(text, []byte("?"))))
}
