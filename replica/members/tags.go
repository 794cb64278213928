package members

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/hashicorp/memberlist"

	"github.com/ringside-kv/ringside/ring"
)

// The protocol that this build gossips, and the oldest that it understands. A node
// joins those whose ranges of protocols meet with its own.
const (
	protocol       = 1
	oldestProtocol = 1
)

// tags are what a node tells all others about itself.
type tags struct {
	protocol, oldest        uint64
	cluster, strategy, hash string
	role                    Role
	weight                  float64
	version                 string
	busAddr, clientAddr     string
	generation              uint64 // of the cluster that the node is in; 0: none yet
	expect                  uint64 // nodes with which it waits to found one; 0: it does not
}

const (
	// tagKey is the one tag that Serf is given; packed in one, tags need no names.
	tagKey = "r"
	// tagRoom is left of memberlist's limit of 512 bytes after Serf's own: a magic
	// byte, and in msgpack the map, the key and the length.
	tagRoom = memberlist.MetaMaxSize - 1 - 1 - 1 - len(tagKey) - 3
)

// encode packs tags: protocol, oldest (uvarints), role (a byte), weight (IEEE 754,
// 8 bytes, big endian), then each text with its length as uvarint before it, then
// generation (8 bytes, so that it can be told later) and expect (uvarint). A later protocol appends; readers of an earlier
// one ignore what follows.
func (t tags) encode() string {
	b := binary.AppendUvarint(nil, t.protocol)
	b = binary.AppendUvarint(b, t.oldest)
	role := byte('s')
	switch t.role {
	case RoleProxy:
		role = 'p'
	case RoleWitness:
		role = 'w'
	}
	b = append(b, role)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(t.weight))
	for _, s := range t.texts() {
		b = binary.AppendUvarint(b, uint64(len(*s)))
		b = append(b, *s...)
	}
	b = binary.BigEndian.AppendUint64(b, t.generation)
	b = binary.AppendUvarint(b, t.expect)
	return string(b)
}

func (t *tags) texts() []*string {
	return []*string{&t.cluster, &t.strategy, &t.hash, &t.version, &t.busAddr, &t.clientAddr}
}

var errTags = errors.New("tags cannot be read")

// decodeTags reads what came from the network. Tags of an unknown protocol are read
// as far as this one goes.
func decodeTags(s string) (tags, error) {
	var t tags
	b := []byte(s)
	number := func() (uint64, error) {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, fmt.Errorf("%w: a number is cut off or too large", errTags)
		}
		b = b[n:]
		return v, nil
	}
	var err error
	if t.protocol, err = number(); err != nil {
		return tags{}, err
	}
	if t.oldest, err = number(); err != nil {
		return tags{}, err
	}
	if len(b) < 9 {
		return tags{}, fmt.Errorf("%w: cut off", errTags)
	}
	switch b[0] {
	case 's':
		t.role = RoleStore
	case 'p':
		t.role = RoleProxy
	case 'w':
		t.role = RoleWitness
	default:
		return tags{}, fmt.Errorf("%w: unknown role %q", errTags, b[0])
	}
	t.weight = math.Float64frombits(binary.BigEndian.Uint64(b[1:]))
	b = b[9:]
	for _, text := range t.texts() {
		n, err := number()
		if err != nil {
			return tags{}, err
		}
		if n > uint64(len(b)) {
			return tags{}, fmt.Errorf("%w: a text is cut off", errTags)
		}
		*text, b = string(b[:n]), b[n:]
	}
	if len(b) < 8 {
		return tags{}, fmt.Errorf("%w: cut off", errTags)
	}
	t.generation, b = binary.BigEndian.Uint64(b), b[8:]
	if t.expect, err = number(); err != nil {
		return tags{}, err
	}
	if err := validateWeight(t.role, t.weight); err != nil {
		return tags{}, fmt.Errorf("%w: %w", errTags, err)
	}
	return t, nil
}

// validateWeight lets a node that takes no share have any number from 0.
func validateWeight(role Role, weight float64) error {
	if role != RoleStore && weight == 0 {
		return nil
	}
	return ring.Member{ID: "node", Weight: weight}.Validate()
}

// checkSize reports whether Serf can carry the tags.
func (t tags) checkSize() error {
	if n := len(t.encode()); n > tagRoom {
		return fmt.Errorf("members: cluster name, addresses and version need %d bytes of gossip, %d are allowed: shorten one", n, tagRoom)
	}
	return nil
}
