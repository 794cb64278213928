package ring

import "unsafe"

// A Locator tells which node serves a key, without a server. It has the form that
// redis.NewRing of go-redis wants as its ConsistentHash, so that a client without a
// sidecar agrees with the servers. It may be used from any goroutine.
type Locator struct {
	token     TokenFunc
	placement *Placement
}

// NewLocator makes a locator of a strategy's token function and the placement that
// the servers have. If alive is not nil, nodes that it does not list count as
// failed, and what they served is looked for at the backups.
func NewLocator(token TokenFunc, p *Placement, alive []string) Locator {
	if alive != nil {
		isAlive := make(map[string]bool, len(alive))
		for _, node := range alive {
			isAlive[node] = true
		}
		var failed []string
		for _, node := range p.nodes {
			if !isAlive[node] {
				failed = append(failed, node)
			}
		}
		p = p.Without(failed...)
	}
	return Locator{token: token, placement: p}
}

// Get returns the primary of a key, empty if no copy is left. It allocates nothing.
func (l Locator) Get(key string) string {
	// A token function keeps no reference to the key and does not write to it.
	return l.placement.Lookup(l.token(unsafe.Slice(unsafe.StringData(key), len(key)))).Primary
}
