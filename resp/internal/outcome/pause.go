package outcome

import "time"

// LongestPause is how long a request waits for newer routes at most, before the old ones are tried again.
const LongestPause = 20 * time.Millisecond

// A Pause is how long a request that has not run waits for newer routes: a millisecond the first time, since the new owner
// of a range may hear of that a moment later than others, and up to LongestPause.
type Pause time.Duration

// Next returns how long to wait this time, left at most.
func (p *Pause) Next(left time.Duration) time.Duration {
	*p = min(max(2**p, Pause(time.Millisecond)), Pause(LongestPause))
	return min(time.Duration(*p), left)
}
