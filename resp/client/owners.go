package client

import (
	"sort"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/ring"
)

// owners say whom to ask for which keys. They never change once they are made; what is
// learnt makes new ones.
type owners struct {
	token ring.TokenFunc // nil where one node has everything
	all   []*remote      // whom to ask for what has no key, or no known owner; at least one
	next  chan struct{}  // closed when a newer placement is known; redirects do not count
	// at finds the place of a token in by: under buckets, the hash under the widest
	// mask; else the number of the last start that is not above it.
	mask   uint32
	starts []ring.Token
	by     []*owner
}

// An owner is who has a piece of the circle. Each piece has one of its own.
type owner struct {
	primary *remote // nil: not known, or there is none
	backups []*remote
}

var nobody = &owner{}

// tokenOf is where a key lies; 0 if that does not matter.
func (w *owners) tokenOf(key []byte) ring.Token {
	if w.token == nil {
		return 0
	}
	return w.token(key)
}

func (w *owners) at(t ring.Token) int {
	if w.starts == nil {
		return int(buckets.HashOf(t) & w.mask)
	}
	return sort.Search(len(w.starts), func(i int) bool { return w.starts[i] > t }) - 1
}

func (w *owners) of(t ring.Token) *owner {
	if w.token == nil {
		return nobody
	}
	return w.by[w.at(t)]
}

// redirected returns owners with another primary for a token's piece: what a node has
// said of it in a redirect, until a whole placement says more.
func (w *owners) redirected(t ring.Token, to *remote) *owners {
	if w.token == nil || w.of(t).primary == to {
		return w
	}
	now := *w
	now.by = append([]*owner(nil), w.by...)
	at := w.at(t)
	changed := &owner{primary: to, backups: w.by[at].backups}
	if w.starts != nil {
		now.by[at] = changed
		return &now
	}
	for i, o := range w.by { // under the widest mask a bucket has several entries
		if o == w.by[at] {
			now.by[i] = changed
		}
	}
	return &now
}

// route is who gets a command, and the token of its first key.
func (w *owners) route(l *line, cmd *command) (to *remote, t ring.Token, keyed bool) {
	to = w.all[0]
	at := cmd.key(l)
	if at < 1 || w.token == nil {
		return to, 0, false
	}
	t = w.token(l.arg(at))
	if primary := w.of(t).primary; primary != nil {
		to = primary
	}
	return to, t, true
}

// splits tells whether a command is to be split, should its keys lie at several nodes.
func (w *owners) splits(l *line, cmd *command) bool {
	return cmd.split != nil && w.token != nil && l.args() > 1+cmd.split.step && (l.args()-1)%cmd.split.step == 0
}

// parts splits a command by who has its keys. Keys without a primary are together if they have the
// same backups.
func (w *owners) parts(l *line, cmd *command) []part {
	type place struct {
		primary *remote
		none    *owner
	}
	var order []place
	keys := make(map[place][]int)
	for i := range l.keyCount(cmd) {
		var to place
		if o := w.of(w.token(l.arg(1 + i*cmd.split.step))); o.primary != nil {
			to.primary = o.primary
		} else {
			to.none = o
		}
		if keys[to] == nil {
			order = append(order, to)
		}
		keys[to] = append(keys[to], i)
	}
	parts := make([]part, len(order))
	for i, to := range order {
		parts[i] = partOf(l, cmd, keys[to], w.token)
	}
	return parts
}
