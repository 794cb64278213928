package resp

import (
	"errors"
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

// What a unit does for those who wait for what it brings.

// serveWaiters serves who waits for the keys of a request that has just run, within its unit.
func (c *conn) serveWaiters(r *request) {
	b := &c.srv.blocked
	if b.queued.Load() == 0 || r.msg != "" || !r.cmd.MayWrite || !c.unit.Latched() {
		return
	}
	args := c.args[r.first:r.last]
	var err error
	if c.keys, err = r.cmd.KeysOf(args, c.keys[:0]); err != nil {
		return
	}
	var ready [][]byte
	for _, key := range c.call.touched {
		if b.hasWaiters(key) {
			ready = append(ready, key)
		}
	}
	c.call.touched = nil
	for _, k := range c.keys {
		if key := args[k.Pos]; b.hasWaiters(key) {
			ready = append(ready, key)
		}
	}
	// Who is served may bring something to others.
	for i := 0; i < len(ready); i++ {
		ready = c.serveKey(ready[i], ready)
	}
}

// serveKey serves who waits for a key, in order, and appends the keys that this brings
// something.
func (c *conn) serveKey(key []byte, ready [][]byte) [][]byte {
	b := &c.srv.blocked
	if c.serveCall == nil {
		c.serveCall = &call{}
		c.serveCall.init(c)
	}
	x := c.serveCall
	for w := b.next(key, nil); w != nil; w = b.next(key, w) {
		v, err := c.unit.Peek(key)
		if err != nil || !v.Exists() && b.onDeletion.Load() == 0 {
			break
		}
		if v.Type != w.Type && w.Gone == nil {
			continue
		}
		if !w.isAllowed() {
			if b.claim(w) {
				w.end(waitAgain, "") // its connection refuses it
			}
			continue
		}
		x.Writer, x.Start, x.Row, x.Args = &w.out, 0, w.cmd, w.args
		if v.Type != w.Type {
			if b.claim(w) {
				x.Error(w.Gone(key, v.Exists()))
				c.servedWaiters = append(c.servedWaiters, w)
			}
			continue
		}
		if w.Ready != nil && !w.Ready(&x.Call, key) {
			continue
		}
		if !c.canServe(w) {
			// Everybody looks for himself: what is there must not lie there while
			// somebody waits.
			b.sendAway(func(w *waiter) bool {
				return slices.ContainsFunc(w.Keys, func(k []byte) bool { return string(k) == string(key) })
			})
			break
		}
		if !b.claim(w) {
			continue
		}
		w.Serve(&x.Call, key)
		w.repeat, x.RunAgain = x.RunAgain, false
		c.servedWaiters = append(c.servedWaiters, w)
		for _, k := range w.Also {
			if b.hasWaiters(k) {
				ready = append(ready, k)
			}
		}
	}
	return ready
}

// canServe tells whether the unit may write to all that a waiter does, beside what it holds
// anyhow.
func (c *conn) canServe(w *waiter) bool {
	if len(w.beside) > 0 && (c.call.LatchAll || c.every) {
		return w.at(c.routes)
	}
	for _, p := range w.beside {
		if !slices.Contains(c.places, p) {
			return false
		}
	}
	return true
}

// maxMovers is how many of those who wait for a key, and write to others, a unit serves itself, and
// maxLooked among how many it finds them. If there is something for more, they all look for
// themselves, and the order of their arrival is lost.
const maxMovers, maxLooked = 64, 1024

// latchServed adds the places that those write to whom the unit may serve, and tells whether
// there are any that it does not hold yet: it has to start again then, with all of them. While
// it holds the latch of a key, nobody comes to wait for that.
func (c *conn) latchServed(reqs []request) bool {
	if !c.unit.Latched() {
		return false
	}
	b := &c.srv.blocked
	before := len(c.places)
	var keys [][]byte
	most := 0
	for i := range reqs {
		r := &reqs[i]
		if r.msg != "" || !r.cmd.MayWrite {
			continue
		}
		args := c.args[r.first:r.last]
		refs, err := r.cmd.KeysOf(args, c.keys[:0])
		if c.keys = refs; err != nil {
			continue
		}
		for _, k := range refs {
			if b.hasWaiters(args[k.Pos]) {
				keys = append(keys, args[k.Pos])
			}
		}
		if most += len(args); len(refs) > 1 || r.cmd.Flags&command.FlagFast == 0 {
			most += maxMovers // it may bring a whole list
		}
	}
	for i := 0; i < len(keys); i++ {
		for _, w := range b.movers(keys[i], min(most, maxMovers)) {
			if !w.at(c.routes) {
				continue
			}
			for j, p := range w.beside {
				if !slices.Contains(c.places, p) {
					c.places = append(c.places, p)
					keys = append(keys, w.Also[j])
				}
			}
		}
	}
	return len(c.places) > before
}

// notifyServed tells those whom the unit has served what became of it: once it has settled, or
// the error, or that it is not known for another reason.
func (c *conn) notifyServed(err error, unknown string) {
	if len(c.servedWaiters) == 0 {
		return
	}
	fed := c.servedWaiters
	c.servedWaiters = nil
	for _, w := range fed {
		switch {
		case unknown != "":
			w.end(waitFailed, unknown)
		case err == nil && w.repeat:
			w.end(waitAgain, "")
		case err == nil:
			w.end(waitServed, "")
		case errors.Is(err, store.ErrUnknown) || errors.Is(err, store.ErrUnacked):
			w.end(waitFailed, command.ErrorText(err))
		default: // nothing was changed
			w.end(waitAgain, "")
		}
	}
}
