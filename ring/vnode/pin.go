package vnode

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/ring"
)

// ErrPin says that text for pinned points is malformed or names no node.
var ErrPin = errors.New("bad pin")

// ParsePin reads the hash at which an operator wants a point, and returns the token
// there. It is a number of 32 bits as murmur3 gives it: signed or unsigned in
// decimals, or in hexadecimals after 0x; -2147483648 is the first place on the ring,
// 2147483647 the last.
func ParsePin(s string) (ring.Token, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		n, err = parseHex(s[2:])
	}
	if err != nil || n < math.MinInt32 || n > math.MaxUint32 {
		return 0, fmt.Errorf("%w: %.40q is not a hash: a hash is a number from %d to %d or from 0x0 to 0xffffffff",
			ErrPin, s, math.MinInt32, uint32(math.MaxUint32))
	}
	return ring.Token(uint32(n) ^ signBit), nil
}

func parseHex(digits string) (int64, error) {
	n, err := strconv.ParseUint(digits, 16, 32)
	return int64(n), err
}

// Pins are points that an operator picked for one node.
type Pins struct {
	Node   string
	Tokens []ring.Token
	Only   bool // they are all that the node has, as in ring.Member.OnlyPins
}

// ParsePins reads node=hash,… for points in the place of the node's own ones, and
// node+=hash,… for points beside these. Hashes are those of [ParsePin]. Its error
// joins every fault.
func ParsePins(s string) (Pins, error) {
	i := strings.LastIndexByte(s, '=') // an id may have one, a list of hashes has none
	if i < 0 {
		return Pins{}, fmt.Errorf("%w: %.300q is neither node=hash,… nor node+=hash,…", ErrPin, s)
	}
	node, adds := strings.CutSuffix(s[:i], "+")
	p := Pins{Node: node, Only: !adds}
	var faults []error
	for hash := range strings.SplitSeq(s[i+1:], ",") {
		token, err := ParsePin(hash)
		if err != nil {
			faults = append(faults, err)
		}
		p.Tokens = append(p.Tokens, token)
	}
	if node == "" {
		faults = append(faults, fmt.Errorf("%w: %.300q names no node", ErrPin, s))
	}
	if len(faults) > 0 {
		return Pins{}, errors.Join(faults...)
	}
	return p, nil
}

// AddPins returns members with their pins. Several pins for one node add up, if they
// agree on being all that it has. Its error joins every fault, each an [ErrPin].
func AddPins(members []ring.Member, pins []Pins) ([]ring.Member, error) {
	members = slices.Clone(members)
	pinned := make(map[string]bool, len(pins))
	var faults []error
	for _, p := range pins {
		i := slices.IndexFunc(members, func(m ring.Member) bool { return m.ID == p.Node })
		switch {
		case i < 0:
			faults = append(faults, fmt.Errorf("%w: there is no node %.300q", ErrPin, p.Node))
		case pinned[p.Node] && members[i].OnlyPins != p.Only:
			faults = append(faults, fmt.Errorf("%w: points of %.300q both in the place of its own and beside them", ErrPin, p.Node))
		default:
			m := &members[i]
			m.Pins, m.OnlyPins = slices.Concat(m.Pins, p.Tokens), p.Only
			pinned[p.Node] = true
		}
	}
	return members, errors.Join(faults...)
}
