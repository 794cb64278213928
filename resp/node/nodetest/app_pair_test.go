package nodetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// A transactor is a map with transactions, of which some fail before or after they are made,
// and some may be made by half.
type transactor struct {
	data   map[string]string
	queued [][]string
	rnd    *rand.Rand
	fails  float64
	half   float64
	count  int
	stop   chan struct{}
}

func (s *transactor) do(_ context.Context, args ...string) (string, error) {
	if s.count++; s.count == 2000 {
		close(s.stop)
	}
	fails := s.rnd.Float64() < s.fails
	before := fails && s.rnd.IntN(2) == 0
	switch args[0] {
	case "MULTI", "DISCARD":
		s.queued = nil
	case "SET":
		s.queued = append(s.queued, args)
	case "MGET":
		return s.data[args[1]] + "," + s.data[args[2]], nil
	case "EXEC":
		if before {
			break
		}
		if s.rnd.Float64() < s.half {
			s.queued = s.queued[:1]
		}
		for _, set := range s.queued {
			s.data[set[1]] = set[2]
		}
	}
	if fails {
		return "", errors.New("no answer")
	}
	return "OK,OK", nil
}

func TestPairsFindHalfATransaction(t *testing.T) { fakenet.Bubble(t, pairsFindHalf) }

func pairsFindHalf(t *testing.T) {
	for _, half := range []float64{0, 0.01} {
		s := &transactor{data: map[string]string{}, rnd: rand.New(rand.NewPCG(1, 2)), fails: 0.01, half: half, stop: make(chan struct{})}
		p := &AppPairs{Name: "p"}
		p.Run(s.do, s.stop)
		s.fails = 0
		err := p.Check(s.do)
		if half == 0 && (err != nil || p.Done < 100 || p.Failed == 0) || half > 0 && err == nil {
			t.Errorf("half %v: %v after %d transactions and %d failures", half, err, p.Done, p.Failed)
		}
	}
}
