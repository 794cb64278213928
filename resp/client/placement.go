package client

// What a Ring knows of the placement, for clients of other kinds that go by it.

// Owner returns the address of the node that serves a key, by the newest placement that the Ring knows; empty if none is
// known. It does not wait.
func (r *Ring) Owner(key []byte) string {
	w := r.owners.Load()
	if to := w.of(w.tokenOf(key)).primary; to != nil {
		return to.addr
	}
	return ""
}

// Nodes returns the addresses of all nodes that the Ring knows, each once, and a channel that is closed when there is a
// newer placement.
func (r *Ring) Nodes() (addrs []string, changed <-chan struct{}) {
	w := r.owners.Load()
	for _, to := range w.all {
		addrs = append(addrs, to.addr)
	}
	return addrs, w.next
}
