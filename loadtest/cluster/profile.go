package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/google/pprof/profile"
)

var errProfile = errors.New("a profile that cannot be read")

// worked reads a processor profile of this program, as runtime/pprof writes it, and returns
// how long each value of a label has run; that of "" is all that has not the label.
func worked(written []byte, label string) (map[string]time.Duration, error) {
	p, err := profile.Parse(bytes.NewReader(written))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProfile, err)
	}
	if len(p.SampleType) < 2 {
		return nil, fmt.Errorf("%w: it has no times", errProfile)
	}
	of := make(map[string]time.Duration)
	for _, s := range p.Sample {
		value := ""
		if texts := s.Label[label]; len(texts) > 0 {
			value = texts[0]
		}
		of[value] += time.Duration(s.Value[1]) // nanoseconds; the first value is the number of samples
	}
	return of, nil
}
