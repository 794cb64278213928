package check

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

// A verdict is what is wrong with an answer.
type verdict uint8

const (
	fine verdict = iota
	lost
	stale
	corrupt
	verdicts
)

var words = [verdicts]string{lost: "lost", stale: "stale", corrupt: "corrupt"}

// judge compares an answer with what is certain. The rules, for a read that began at r:
//
//   - A write that was acknowledged before another began that was acknowledged before r
//     is not seen by it. The later one may be a DEL.
//   - Nothing is there only if nothing was ever acknowledged before r, or after a DEL that
//     was not certainly overwritten, or once a value may have expired that was not.
//   - What is there was written, by a write of this key that has begun.
//   - A counter has at least the INCRs that were acknowledged before r, and at most those
//     that have begun by now.
//
// Writes that began after the answer came are taken for possible as well, since a few may
// be known by now: that hides nothing for long and accuses nobody.
func (c *Client) judge(p *pending, marks []mark, a *Answer, now time.Duration) {
	if a.Outcome != result.Done || !p.kind.reads() || c.m.blind.Load() {
		return
	}
	there := p.kind == SetNX && a.Integer == 0
	switch p.kind {
	case Get, GetSet:
		marks = marks[:min(len(marks), len(a.Values))]
	case Exists:
		if there = a.Integer == int64(len(marks)); !there && a.Integer != 0 {
			return // some of the keys are there, but it is not known which
		}
	}
	for i := range marks {
		at := &marks[i]
		var value []byte
		if p.kind == Get || p.kind == GetSet {
			value = a.Values[i]
		}
		stamp, err := workload.ReadStamp(value) // before the lock: long values take a while
		s := c.m.keys.stripe(at.number)
		s.mu.Lock()
		var v verdict
		var why string
		switch {
		case p.kind == Incr:
			v, why = c.increment(at, a.Integer)
		case value != nil:
			v, why = c.seen(p, at, stamp, err == nil, value)
		case there:
			v, why = c.presence(p, at)
		default:
			v, why = c.absence(at, now)
		}
		s.mu.Unlock()
		c.reads.Add(1)
		if v != fine {
			c.found[v].Add(1)
			c.m.example(fmt.Sprintf("%s: key %s, asked for at %s: %s", words[v], c.m.cfg.Name(at.number), p.began, why))
		}
	}
}

// seen judges what was there. Like all that judge one key, it needs the stripe's lock.
func (c *Client) seen(p *pending, at *mark, stamp workload.Stamp, stamped bool, v []byte) (verdict, string) {
	k := at.key
	if k == nil {
		k = c.m.keys.find(at.number, false)
	}
	if at.floor == never && !c.m.cfg.Fresh && (k == nil || !k.zero) {
		return fine, "" // it may be from before
	}
	if k == nil {
		return corrupt, fmt.Sprintf("read %.60q, and nobody has ever written the key", v)
	}
	if k.tainted {
		return fine, ""
	}
	if !stamped {
		if n, err := strconv.ParseInt(string(v[:min(len(v), 20)]), 10, 64); err == nil && len(v) < 20 && k.number {
			return c.counted("read", at, k, n, at.acked)
		}
		return corrupt, fmt.Sprintf("read %.60q of %d bytes, which nobody wrote", v, len(v))
	}
	i := k.find(stamp.Client, stamp.Write)
	verdict, why := fine, ""
	switch {
	case stamp.Key != uint64(at.number):
		verdict, why = corrupt, "which is one of another key"
	case int(stamp.Client) >= len(c.m.begun) || stamp.Write > c.m.begun[stamp.Client].Load():
		verdict, why = corrupt, "which nobody has made"
	case i < 0 && k.loose:
	case i < 0 && at.floor == never:
		verdict, why = corrupt, "which was refused"
	case i < 0:
		verdict, why = stale, "which was overwritten long before, or refused"
	case k.writes[i].acked < at.floor:
		verdict = stale
		why = fmt.Sprintf("acknowledged at %s, although another that began at %s was acknowledged before", k.writes[i].acked, at.floor)
	case c.expired(&k.writes[i], p.began):
		verdict = stale
		why = fmt.Sprintf("acknowledged at %s to live for %s", k.writes[i].acked, k.writes[i].ttl)
	}
	if verdict == fine {
		return fine, ""
	}
	return verdict, fmt.Sprintf("read write %d of client %d, %s", stamp.Write, stamp.Client, why)
}

// expired reports whether a value is certainly gone for who began at a time.
func (c *Client) expired(w *write, at time.Duration) bool {
	return w.ttl > 0 && w.acked != forever && w.acked+w.ttl+c.m.cfg.Slack < at
}

// absence judges that nothing was there.
func (c *Client) absence(at *mark, now time.Duration) (verdict, string) {
	switch {
	case at.key == nil || c.mayBeGone(at, now): // nil: it had never been written
		return fine, ""
	case at.floor == never:
		return lost, fmt.Sprintf("read nothing, although %d INCR were acknowledged before", at.acked)
	}
	return lost, fmt.Sprintf("read nothing, although a write that began at %s was acknowledged before", at.floor)
}

func (c *Client) mayBeGone(at *mark, now time.Duration) bool {
	k := at.key
	if k.tainted || k.loose {
		return true
	}
	if at.floor == never {
		// If it was there before, it may have had a time to live, which INCR keeps.
		return at.acked == 0 || k.reset || !c.m.cfg.Fresh
	}
	for i := range k.writes {
		w := &k.writes[i]
		switch {
		case w.acked < at.floor: // it is certainly overwritten
		case w.kind == Delete, w.ttl > 0 && w.began+w.ttl-c.m.cfg.Slack <= now:
			return true
		}
	}
	return false
}

// presence judges that something was there.
func (c *Client) presence(p *pending, at *mark) (verdict, string) {
	if at.key == nil || at.floor == never || c.mayBeThere(p, at) {
		return fine, ""
	}
	return stale, "found something, although it was deleted or has expired"
}

func (c *Client) mayBeThere(p *pending, at *mark) bool {
	k := at.key
	if k.tainted || k.loose || k.incrBegun > 0 {
		return true
	}
	for i := range k.writes {
		w := &k.writes[i]
		own := w.client == c.number && w.number == p.write && p.kind == SetNX
		if w.kind != Delete && !own && w.acked >= at.floor && !c.expired(w, p.began) {
			return true
		}
	}
	return false
}

// increment judges what INCR answers.
func (c *Client) increment(at *mark, n int64) (verdict, string) {
	if at.key.tainted {
		return fine, ""
	}
	return c.counted("counted to", at, at.key, n, at.acked+1)
}

// counted judges a number that a client has read or counted to.
func (c *Client) counted(has string, at *mark, k *key, n, least int64) (verdict, string) {
	switch {
	case !c.m.cfg.Fresh && !k.zero:
		return fine, "" // nobody knows where it began
	case n > k.incrBegun || n < 0:
		return corrupt, fmt.Sprintf("%s %d, and only %d INCR have begun", has, n, k.incrBegun)
	case n < least && !k.reset:
		return stale, fmt.Sprintf("%s %d, although %d INCR were acknowledged before", has, n, at.acked)
	}
	return fine, ""
}
