package ring

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a member.
const (
	// MaxWeight keeps a slip (a port in the place of a weight) from asking for
	// more points than anyone wants to wait for.
	MaxWeight = 1000
	// MaxIDLen is the length in bytes of the longest id.
	MaxIDLen = 255
)

// A Member is a node that takes part in the placement.
type Member struct {
	ID     string
	Weight float64 // its share relative to the others, above 0; 1 is usual
	// Pins are points that an operator picked by hand (strategy vnode). OnlyPins
	// makes them the node's only ones; otherwise they add to those that follow
	// from its id.
	Pins     []Token
	OnlyPins bool
	// Zone names the set of nodes that may fail together, as a rack or a data center, of
	// which the node is one; empty if it is in none. Copies of a range go to different zones.
	Zone string
}

// ParseMember reads id or id:weight, as in "a" and "b:2.5". The weight stands after
// the last colon, so that an id with a colon needs its weight too:
// "10.0.1.1:11211:1".
func ParseMember(s string) (Member, error) {
	m := Member{ID: s, Weight: 1}
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		w, err := strconv.ParseFloat(s[i+1:], 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return Member{}, fmt.Errorf("%w: %.300q: %.40q is not a number", ErrWeight, s, s[i+1:])
		}
		m.ID, m.Weight = s[:i], w
	}
	if err := m.Validate(); err != nil {
		return Member{}, err
	}
	return m, nil
}

// Validate checks one member by itself.
func (m Member) Validate() error {
	if err := validateID(m.ID); err != nil {
		return err
	}
	switch {
	case !(m.Weight > 0): // also not a number
		return fmt.Errorf("%w: %s: %v is not above 0", ErrWeight, m.ID, m.Weight)
	case m.Weight > MaxWeight || math.IsInf(m.Weight, 0):
		return fmt.Errorf("%w: %s: %v is above %d (an id with a colon needs its weight too: %s:1)",
			ErrWeight, m.ID, m.Weight, MaxWeight, m.ID+":"+strconv.FormatFloat(m.Weight, 'f', -1, 64))
	case m.OnlyPins && len(m.Pins) == 0:
		return fmt.Errorf("%w: %s has pinned points alone, and none of them", ErrPins, m.ID)
	}
	if err := ValidateZone(m.Zone); err != nil {
		return fmt.Errorf("%s: %w", m.ID, err)
	}
	return nil
}

// validateID keeps ids printable and apart from each other in text.
func validateID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: it is empty", ErrID)
	case len(id) > MaxIDLen:
		return fmt.Errorf("%w: %.20q… has %d bytes, %d are allowed", ErrID, id, len(id), MaxIDLen)
	case !utf8.ValidString(id):
		return fmt.Errorf("%w: %q is not UTF-8", ErrID, id)
	}
	for _, r := range id {
		if r == ',' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return fmt.Errorf("%w: %q contains %q; commas, spaces and what cannot be printed are not allowed", ErrID, id, r)
		}
	}
	return nil
}

// SortedMembers checks members together and returns a copy ordered by id, so that
// what is computed from it does not depend on the order in which they were given.
// Its error joins every fault.
func SortedMembers(members []Member) ([]Member, error) {
	if len(members) == 0 {
		return nil, ErrNoMembers
	}
	sorted := slices.Clone(members)
	slices.SortStableFunc(sorted, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	var faults []error
	for i, m := range sorted {
		if err := m.Validate(); err != nil {
			faults = append(faults, err)
		}
		if i > 0 && m.ID == sorted[i-1].ID && (i < 2 || m.ID != sorted[i-2].ID) {
			faults = append(faults, fmt.Errorf("%w: %.300q", ErrDuplicate, m.ID))
		}
	}
	return sorted, errors.Join(faults...)
}
