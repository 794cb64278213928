package members

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// A startID is one start of a node: what Serf knows as a member. See the package
// comment for why.
type startID struct {
	id          string
	incarnation uint64
	nonce       uint32 // tells lives of the same incarnation apart
}

// lifeSeparator stands between the parts of a life's name; Serf gives a meaning of
// its own to a slash.
const lifeSeparator = "#"

func newStartID(id string, incarnation uint64) startID {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return startID{id, incarnation, binary.BigEndian.Uint32(b[:])}
}

// name is what Serf calls the life.
func (l startID) name() string {
	return l.id + lifeSeparator + strconv.FormatUint(l.incarnation, 36) + lifeSeparator + strconv.FormatUint(uint64(l.nonce), 36)
}

// parseStartID reads a name from the network.
func parseStartID(name string) (startID, error) {
	parts := strings.Split(name, lifeSeparator)
	if len(parts) != 3 {
		return startID{}, fmt.Errorf("name %.300q: want id, incarnation and nonce", name)
	}
	incarnation, err := strconv.ParseUint(parts[1], 36, 64)
	if err != nil {
		return startID{}, fmt.Errorf("name %.300q: incarnation: %w", name, err)
	}
	nonce, err := strconv.ParseUint(parts[2], 36, 32)
	if err != nil {
		return startID{}, fmt.Errorf("name %.300q: random number: %w", name, err)
	}
	l := startID{parts[0], incarnation, uint32(nonce)}
	if err := validateID(l.id); err != nil {
		return startID{}, err
	}
	if l.name() != name { // +1, 0A: one life, one name
		return startID{}, fmt.Errorf("name %.300q is not written as ours are", name)
	}
	return l, nil
}

// compareStartIDs orders the lives of one id; the last one is the node. Among equal
// incarnations one that is alive goes before one that is not: its directory was
// copied, or its incarnation not counted up, and the table will refuse it.
func compareStartIDs(a, b startID, aAlive, bAlive bool) int {
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
