package bus

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
)

// version of the handshake, of the records and of what travels on the connections behind
// them. Frames keep their outer form in every version, so that even a stranger's refusal can
// be read.
//
// Version 2: replies to forwarded commands carry a mark each.
// Version 3: forwarded commands carry a deadline on the clock of the node that serves them, which
// tells its time.
const version = 3

const (
	nonceSize = 32
	shareSize = 32 // an X25519 public key
)

// A hello is what one side says of itself.
type hello struct {
	version     uint16
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

func (c *Config) hello(purpose Purpose, wantID string) hello {
	h := hello{
		version:     version,
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

// fixedHello is the length of what every hello has before its strings.
const fixedHello = 2 + 1 + 1 + 8 + 8 + nonceSize + shareSize

// encode writes version, flags, purpose, generation, incarnation, nonce, share, and
// the strings, each after its length in a byte. Numbers are big-endian.
func (h *hello) encode() []byte {
	b := binary.BigEndian.AppendUint16(nil, h.version)
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

// decodeHello reads a hello. Of one in another version it reads the version alone.
func decodeHello(b []byte) (hello, error) {
	var h hello
	if len(b) < 2 {
		return h, fmt.Errorf("%w: hello of %d bytes", ErrProtocol, len(b))
	}
	h.version = binary.BigEndian.Uint16(b)
	if h.version != version {
		return h, nil
	}
	if len(b) < fixedHello {
		return h, fmt.Errorf("%w: hello of %d bytes", ErrProtocol, len(b))
	}
	if b[2] > 1 {
		return h, fmt.Errorf("%w: unknown flags %#x", ErrProtocol, b[2])
	}
	h.keyed = b[2] == 1
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
	if len(rest) > 0 {
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
	if mine.version != theirs.version {
		return reasonVersion, fmt.Sprintf("node %q speaks version %d of the bus protocol, the peer version %d", mine.id, mine.version, theirs.version)
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
		// Nobody draws the same 32 bytes: this is an echo.
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
