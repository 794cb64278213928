package result

import (
	"errors"
	"fmt"
)

// ErrWrong says that an answer was wrong.
var ErrWrong = errors.New("wrong answers")

// Wrong tells who lost what had been acknowledged, or gave answers that were stale or
// corrupt, in any round; each error wraps [ErrWrong]. It is nil if nobody did, as far as
// anybody looked.
func (r *Report) Wrong() error {
	var faults []error
	for i := range r.Contestants {
		c := &r.Contestants[i]
		for j := range c.Runs {
			if k := c.Runs[j].Checked; k != nil && k.Lost+k.Stale+k.Corrupt > 0 {
				faults = append(faults, fmt.Errorf("%w: %s, round %d: %d lost, %d stale, %d corrupt", ErrWrong, c.Name, c.Runs[j].Round, k.Lost, k.Stale, k.Corrupt))
			}
		}
	}
	return errors.Join(faults...)
}
