package streams

import (
	"bytes"
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

// A refPolicy says what the removal of entries means for the groups in which they are pending.
type refPolicy uint8

const (
	// keepRefs: they stay pending, though they are gone.
	keepRefs refPolicy = iota
	// dropRefs: they are pending no more.
	dropRefs
	// ackedOnly: only entries go that every group has read and acknowledged.
	ackedOnly
)

// refPolicyOf returns the policy that an option names.
func refPolicyOf(word []byte) (policy refPolicy, ok bool) {
	switch {
	case wire.EqualFold(word, "keepref"):
		return keepRefs, true
	case wire.EqualFold(word, "delref"):
		return dropRefs, true
	case wire.EqualFold(word, "acked"):
		return ackedOnly, true
	}
	return keepRefs, false
}

// Replies of XDELEX and XACKDEL for one ID.
const (
	replyNoEntry    = -1
	replyRemoved    = 1
	replyReferenced = 2
)

// parseRemoval reads the arguments of XDELEX and XACKDEL behind the key and the group: a policy and
// IDS with their number, in any order. It has replied if ok is false.
func parseRemoval(x *command.Call, args [][]byte) (policy refPolicy, ids []collection.ID, ok bool) {
	var words [][]byte
	chosen := false
	for ; len(args) > 0; args = args[1:] {
		p, isPolicy := refPolicyOf(args[0])
		switch {
		case isPolicy && !chosen:
			policy, chosen = p, true
		case words == nil && len(args) > 1 && wire.EqualFold(args[0], "ids"):
			n, isInt := wire.ParseInt(args[1])
			if !isInt || n < 1 || n > math.MaxInt32 {
				x.Error("ERR Number of IDs must be a positive integer")
				return policy, nil, false
			}
			if n > int64(len(args)-2) {
				x.Error("ERR The `numids` parameter must match the number of arguments")
				return policy, nil, false
			}
			words, args = args[2:2+n], args[1+n:]
		default:
			x.Error(command.MsgSyntax)
			return policy, nil, false
		}
	}
	if words == nil {
		x.Error(command.MsgSyntax)
		return policy, nil, false
	}
	ids, ok = streamIDs(x, words)
	return policy, ids, ok
}

// A removal removes entries of a stream by a policy.
type removal struct {
	s      *collection.Stream
	groups []*collection.Group
	policy refPolicy
	ids    []collection.ID // that are to be removed
	known  map[collection.ID]bool
}

// isReferenced reports whether some group has an entry still to read or to acknowledge.
func (r *removal) isReferenced(id collection.ID) (bool, error) {
	for _, g := range r.groups {
		if id.Compare(g.Last) > 0 {
			return true, nil
		}
		if p, err := g.Find(id); err != nil || p != nil {
			return true, err
		}
	}
	return false, nil
}

// remove decides about one entry, and returns the reply. The entry goes with finish.
func (r *removal) remove(id collection.ID) (reply int64, err error) {
	if r.policy == dropRefs {
		for _, g := range r.groups {
			p, err := g.Find(id)
			if err == nil && p != nil {
				err = g.Remove(p)
			}
			if err != nil {
				return 0, err
			}
		}
	}
	if _, found, err := r.s.Get(id); err != nil || !found || r.known[id] {
		return replyNoEntry, err
	}
	if r.policy == ackedOnly {
		// An entry of a stream without groups has been acknowledged by none.
		referenced, err := r.isReferenced(id)
		if err != nil || referenced || len(r.groups) == 0 {
			return replyReferenced, err
		}
	}
	if r.known == nil {
		r.known = make(map[collection.ID]bool)
	}
	r.known[id] = true
	r.ids = append(r.ids, id)
	return replyRemoved, nil
}

// finish removes the entries, and saves the groups.
func (r *removal) finish(x *command.Call) error {
	n, err := r.s.Delete(r.ids)
	if err != nil {
		return err
	}
	for _, g := range r.groups {
		g.Save()
	}
	if n > 0 {
		noteStream(x, "xdel", x.Args[1])
	}
	return nil
}

func cmdXdelex(x *command.Call) {
	policy, ids, ok := parseRemoval(x, x.Args[2:])
	if !ok {
		return
	}
	s, ok := streamAt(x)
	if !ok {
		return
	}
	r := removal{s: s, policy: policy}
	removeEach(x, &r, ids, nil)
}

func cmdXackdel(x *command.Call) {
	policy, ids, ok := parseRemoval(x, x.Args[3:])
	if !ok {
		return
	}
	s, ok := streamAt(x)
	if !ok {
		return
	}
	x.CountLookup(x.Args[1], s.Value())
	r := removal{s: s, policy: policy}
	removeEach(x, &r, ids, x.Args[2])
}

// removeEach removes the entries with some IDs and replies for each; with the name of a group, those
// that it acknowledges with that.
func removeEach(x *command.Call, r *removal, ids []collection.ID, name []byte) {
	var err error
	if r.groups, err = r.s.AllGroups(); err != nil {
		x.Fail(err)
		return
	}
	var group *collection.Group
	for _, g := range r.groups {
		if name != nil && bytes.Equal(g.Name(), name) {
			group = g
		}
	}
	at := len(x.Buf)
	x.Array(len(ids))
	for _, id := range ids {
		reply := int64(replyNoEntry)
		acked := name == nil
		if group != nil {
			acked, err = acknowledge(group, id)
		}
		if err == nil && acked {
			reply, err = r.remove(id)
		}
		if err != nil {
			x.Buf = x.Buf[:at]
			x.Abort(err)
			return
		}
		x.Int(reply)
	}
	if err := r.finish(x); err != nil {
		x.Buf = x.Buf[:at]
		x.Abort(err)
	}
}

// acknowledge reports whether an entry was pending in a group, where it is not any more.
func acknowledge(g *collection.Group, id collection.ID) (bool, error) {
	p, err := g.Find(id)
	if err != nil || p == nil {
		return false, err
	}
	return true, g.Remove(p)
}

// trimRefs trims a stream that has groups by a policy, and returns how many entries have gone.
func trimRefs(s *collection.Stream, t collection.Trim, policy refPolicy) (n int64, err error) {
	groups, err := s.AllGroups()
	if err != nil {
		return 0, err
	}
	if policy == ackedOnly {
		return trimAcked(s, groups, t)
	}
	from, last := s.First, s.Last
	if n, err = s.Trim(t); err != nil || n == 0 {
		return n, err
	}
	// Pending entries that were gone before, between those that go now, are dropped with them.
	for _, g := range groups {
		var failure error
		err := g.EachPending(from, last, func(p *collection.Pending) bool {
			if s.Len() > 0 && p.ID.Compare(s.First) >= 0 {
				return false
			}
			failure = g.Remove(p)
			return failure == nil
		})
		if err == nil {
			err = failure
		}
		if err != nil {
			return n, err
		}
		g.Save()
	}
	return n, nil
}

// trimAcked removes those of the first entries that all groups have acknowledged. An approximate trim
// looks at so many entries at most as it may remove.
func trimAcked(s *collection.Stream, groups []*collection.Group, t collection.Trim) (n int64, err error) {
	r := removal{s: s, groups: groups, policy: ackedOnly}
	read := collection.MaxID // by all groups
	for _, g := range groups {
		if g.Last.Compare(read) < 0 {
			read = g.Last
		}
	}
	length, seen, front := s.Len(), int64(0), int64(0)
	var failure error
	err = s.Range(collection.ID{}, read, false, func(id collection.ID, _ collection.Fields) bool {
		gone := front + int64(len(r.ids))
		if t.MaxLen >= 0 && length-gone <= t.MaxLen || t.MaxLen < 0 && id.Compare(t.MinID) >= 0 || t.Limit > 0 && seen >= t.Limit {
			return false
		}
		var referenced bool
		referenced, failure = r.isReferenced(id)
		switch {
		case failure != nil:
			return false
		case referenced:
		case front == seen: // so far all go
			front++
		default:
			r.ids = append(r.ids, id)
		}
		seen++
		return true
	})
	if err == nil {
		err = failure
	}
	if err != nil {
		return 0, err
	}
	if front > 0 {
		if _, err = s.Trim(collection.Trim{MaxLen: length - front}); err != nil {
			return 0, err
		}
	}
	n, err = s.Delete(r.ids)
	return n + front, err
}
