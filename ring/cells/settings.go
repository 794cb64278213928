package cells

import (
	"cmp"
	"errors"
	"fmt"
)

// Settings are those of the algorithms that have some. Zero is the default.
type Settings struct {
	// Probes is how often [MultiProbe] hashes a key.
	Probes int `json:"probes,omitempty"`
	// Candidates is among how many nodes [LocalRendezvous] chooses the primary.
	Candidates int `json:"candidates,omitempty"`
	// Slack is how much above its share a node may be under [Bounded]: the ε of its paper.
	Slack float64 `json:"slack,omitempty"`
}

// Bounds of settings. Beyond them a placement would take long to compute, or be that of the bound.
const (
	MaxProbes     = 256
	MaxCandidates = 256
	MinSlack      = 0.001
	MaxSlack      = 10
)

// Errors of [Settings].
var (
	ErrProbes     = errors.New("bad number of probes")
	ErrCandidates = errors.New("bad number of candidates")
	ErrSlack      = errors.New("bad slack")
)

// DefaultSettings returns the settings of an algorithm unless it is told otherwise.
func DefaultSettings() Settings {
	return Settings{Probes: defaultProbes, Candidates: defaultCandidates, Slack: defaultSlack}
}

// EnsureDefaults sets what is zero to its default.
func (s *Settings) EnsureDefaults() {
	d := DefaultSettings()
	s.Probes, s.Candidates, s.Slack = cmp.Or(s.Probes, d.Probes), cmp.Or(s.Candidates, d.Candidates), cmp.Or(s.Slack, d.Slack)
}

// OmitDefaults sets to zero what is a default, so that equal settings have equal values.
func (s *Settings) OmitDefaults() {
	d := DefaultSettings()
	omit(&s.Probes, d.Probes)
	omit(&s.Candidates, d.Candidates)
	omit(&s.Slack, d.Slack)
}

func omit[T int | float64](value *T, usual T) {
	if *value == usual {
		*value = 0
	}
}

// MultiProbe returns the algorithm with these settings, or [ErrProbes].
func (s Settings) MultiProbe() (Algorithm, error) {
	s.EnsureDefaults()
	if s.Probes < 1 || s.Probes > MaxProbes {
		return nil, fmt.Errorf("%w: %d is not from 1 to %d", ErrProbes, s.Probes, MaxProbes)
	}
	return MultiProbe(s.Probes), nil
}

// LocalRendezvous returns the algorithm with these settings, or [ErrCandidates].
func (s Settings) LocalRendezvous() (Algorithm, error) {
	s.EnsureDefaults()
	if s.Candidates < 1 || s.Candidates > MaxCandidates {
		return nil, fmt.Errorf("%w: %d is not from 1 to %d", ErrCandidates, s.Candidates, MaxCandidates)
	}
	return LocalRendezvous(s.Candidates), nil
}

// Bounded returns the algorithm with these settings, or [ErrSlack].
func (s Settings) Bounded() (Algorithm, error) {
	s.EnsureDefaults()
	if !(s.Slack >= MinSlack && s.Slack <= MaxSlack) { // NaN is neither
		return nil, fmt.Errorf("%w: %v is not from %v to %v", ErrSlack, s.Slack, MinSlack, MaxSlack)
	}
	return Bounded(s.Slack), nil
}
