package workload

import (
	"math"
	"time"
)

// maxRate is the highest rate, in operations a second.
const maxRate = 100_000_000

// A Rate is an open loop: at what times operations begin, whether or not those before are
// done. The zero Rate is a closed loop: each begins when the one before is done.
type Rate struct {
	From, To float64       // operations a second
	Over     time.Duration // from the beginning on, until the rate is To; 0 if it is To at once
}

// ParseRate reads operations a second of all clients together:
//
//	20000                   as many all the time
//	1000..20000 over 30s    from 1,000 to 20,000 in a straight line, which then stays
//
// An empty text is a closed loop. The error wraps [ErrRate].
func ParseRate(text string) (Rate, error) {
	words := Words(text, 1)
	if len(words) == 0 {
		return Rate{}, nil
	}
	from, to, ramps := words[0].Range()
	if !ramps && len(words) > 1 {
		return Rate{}, words[1].Fault(ErrRate, "only a rate that changes does so over a time, as in 1000..20000 over 30s")
	}
	var rates [2]float64
	for i, w := range []Word{from, to} {
		n, err := w.Int(ErrRate, 1, maxRate)
		if err != nil {
			return Rate{}, err
		}
		rates[i] = float64(n)
	}
	r := Rate{From: rates[0], To: rates[1]}
	if !ramps {
		return r, nil
	}
	if len(words) != 3 || words[1].Text != "over" {
		return Rate{}, words[0].Fault(ErrRate, "a rate that changes does so over a time, as in 1000..20000 over 30s")
	}
	var err error
	r.Over, err = words[2].Duration(ErrRate, time.Millisecond, 24*time.Hour)
	return r, err
}

// Open reports whether this is an open loop.
func (r Rate) Open() bool { return r.To > 0 }

// At is when operation n of all clients, counted from 0 on, is to begin, after the
// beginning.
func (r Rate) At(n int64) time.Duration {
	if r.Over == 0 {
		return seconds(float64(n) / r.To)
	}
	// During the ramp there have been From·t + (To−From)·t²/2·Over operations by t.
	over := r.Over.Seconds()
	ramp := (r.From + r.To) / 2 * over
	if x := float64(n); x < ramp {
		// The root in the form that loses nothing where the rates are close.
		slope := (r.To - r.From) / over
		return seconds(2 * x / (r.From + math.Sqrt(r.From*r.From+2*slope*x)))
	}
	return r.Over + seconds((float64(n)-ramp)/r.To)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
