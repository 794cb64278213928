package members

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// A life is one start of a node: what Serf knows as a member. See the package
// comment for why.
type life struct {
	id          string
	incarnation uint64
	nonce       uint32 // tells lives of the same incarnation apart
}

// lifeSeparator stands between the parts of a life's name; Serf gives a meaning of
// its own to a slash.
const lifeSeparator = "#"

func newLife(id string, incarnation uint64) life {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return life{id, incarnation, binary.BigEndian.Uint32(b[:])}
}

// name is what Serf calls the life.
func (l life) name() string {
	return l.id + lifeSeparator + strconv.FormatUint(l.incarnation, 36) + lifeSeparator + strconv.FormatUint(uint64(l.nonce), 36)
}

// parseLife reads a name from the network.
func parseLife(name string) (life, error) {
	parts := strings.Split(name, lifeSeparator)
	if len(parts) != 3 {
		return life{}, fmt.Errorf("name %.300q: want id, incarnation and nonce", name)
	}
	incarnation, err := strconv.ParseUint(parts[1], 36, 64)
	if err != nil {
		return life{}, fmt.Errorf("name %.300q: incarnation: %w", name, err)
	}
	nonce, err := strconv.ParseUint(parts[2], 36, 32)
	if err != nil {
		return life{}, fmt.Errorf("name %.300q: random number: %w", name, err)
	}
	l := life{parts[0], incarnation, uint32(nonce)}
	if err := validateID(l.id); err != nil {
		return life{}, err
	}
	if l.name() != name { // +1, 0A: one life, one name
		return life{}, fmt.Errorf("name %.300q is not written as ours are", name)
	}
	return l, nil
}

// compareLives orders the lives of one id; the last one is the node. Among equal
// incarnations one that is alive goes before one that is not: its directory was
// copied, or its incarnation not counted up, and the table will refuse it.
func compareLives(a, b life, aAlive, bAlive bool) int {
	if c := cmp.Compare(a.incarnation, b.incarnation); c != 0 {
		return c
	}
	if aAlive != bAlive {
		if aAlive {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.nonce, b.nonce)
}
