package store

// keyUses says whether what a unit does is a use of its keys.
type keyUses struct {
	noTouch bool
	set     []setUse // what SetUsage has said
}

type setUse struct {
	place Place
	key   []byte
	Usage
}

// SetUsage says how a key which the unit writes was used before, once it has committed.
func (ku *keyUses) SetUsage(p Place, key []byte, usage Usage) {
	ku.set = append(ku.set, setUse{p, key, usage})
}

// SetNoTouch says whether, from now on, what the unit reads and writes counts as no use of its keys, for
// [Unit.IdleSeconds], [Unit.Frequency] and eviction. Reads leave the cache as it is then.
func (ku *keyUses) SetNoTouch(on bool) { ku.noTouch = on }

// NoTouch reports what SetNoTouch has said.
func (ku *keyUses) NoTouch() bool { return ku.noTouch }
