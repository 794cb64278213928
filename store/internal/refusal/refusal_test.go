package refusal

import (
	"errors"
	"log/slog"
	"testing"
)

// What only removes is accepted while the disk is low, and nothing is for any other reason. Writes are
// accepted again once no reason is left.
func TestReasonsAreIndependent(t *testing.T) {
	var r Reasons
	r.Init(slog.New(slog.DiscardHandler))
	for first := range numReasons {
		for second := range numReasons {
			if first == second {
				continue
			}
			cause := [...]error{errors.New("first"), errors.New("second")}
			r.Set(first, cause[0])
			r.Set(second, cause[1])
			if err := r.Writes(); !errors.Is(err, ErrReadOnly) || !errors.Is(err, cause[0]) && !errors.Is(err, cause[1]) {
				t.Errorf("reasons %d and %d: %v", first, second, err)
			}
			if r.Removals() == nil || !r.AreOnly(first, second) || r.AreOnly(second) {
				t.Errorf("reasons %d and %d: removals %v", first, second, r.Removals())
			}
			r.Set(second, nil)
			if err := r.Writes(); !errors.Is(err, cause[0]) || r.Of(first) == nil || r.Of(second) != nil {
				t.Errorf("reason %d alone: %v", first, err)
			}
			if err := r.Removals(); (err == nil) != (first == DiskLow) {
				t.Errorf("reason %d alone: removals %v", first, err)
			}
			r.Set(first, nil)
			if err := errors.Join(r.Writes(), r.Removals()); err != nil {
				t.Errorf("no reason: %v", err)
			}
		}
	}
}
