package machine

import "time"

// began is the moment from which monotonic times count.
var began = time.Now()

// monotonic is a clock that is never set. On some systems it stands still while the
// machine is suspended.
func monotonic() time.Duration { return time.Since(began) }
