package store

// keyUses says whether what a unit does is a use of its keys.
type keyUses struct{ noTouch bool }

// SetNoTouch says whether, from now on, what the unit reads and writes counts as no use of its keys, for
// [Unit.IdleSeconds], [Unit.Frequency] and eviction. Reads leave the cache as it is then.
func (ku *keyUses) SetNoTouch(on bool) { ku.noTouch = on }

// NoTouch reports what SetNoTouch has said.
func (ku *keyUses) NoTouch() bool { return ku.noTouch }
