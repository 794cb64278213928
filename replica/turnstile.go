package replica

// A turnstile is a mutex under which one may wait for others: for a store or a network.
// Tests in virtual time see who waits at it as waiting, which they do not at a mutex.
type turnstile chan struct{}

func newTurnstile() turnstile { return make(turnstile, 1) }

// Lock implements sync.Locker.
func (t turnstile) Lock() { t <- struct{}{} }

// Unlock implements sync.Locker.
func (t turnstile) Unlock() { <-t }
