package resp

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/store/collection"
)

// A streamRead is what XREAD and XREADGROUP ask for.
type streamRead struct {
	count int64 // 0: all
	// blocks: the client would wait for an entry, for so many ms, or without end if it is 0.
	blocks          bool
	timeout         int64
	group, consumer []byte // nil in XREAD
	noAck           bool
	keys, ids       [][]byte
}

func cmdXread(x *call) {
	r, msg := x.parseStreamRead(false)
	if msg != "" {
		x.err(msg)
		return
	}
	after, ok := x.readAfter(r)
	if !ok {
		return
	}
	at, n := len(x.buf), 0
	for i, key := range r.keys {
		served, err := x.readStream(key, after[i], r.count)
		if err != nil {
			x.endReply(err)
			return
		}
		if served {
			n++
		}
	}
	if n == 0 {
		if r.blocks {
			x.awaitEntries(r, after)
		} else {
			x.nullArray()
		}
		return
	}
	x.insertStreams(at, n)
	x.endReply(nil)
}

// insertStreams puts the length before n streams: a map in RESP3.
func (x *call) insertStreams(at, n int) {
	if x.proto == 3 {
		x.insertLength(at, '%', n)
	} else {
		x.insertLength(at, '*', n)
	}
}

// streamName begins what is said of one stream.
func (x *call) streamName(key []byte) {
	if x.proto != 3 {
		x.array(2)
	}
	x.bulk(key)
}

// parseStreamRead reads the arguments of XREAD or XREADGROUP, or returns an error reply.
func (x *call) parseStreamRead(grouped bool) (r *streamRead, msg string) {
	r = &streamRead{}
	args := x.args[1:]
	for r.keys == nil {
		if len(args) == 0 {
			return nil, msgSyntax
		}
		word, more := args[0], args[1:]
		used, ok := 1, true
		switch {
		case equalFold(word, "block") && len(more) > 0:
			r.blocks, used = true, 2
			if r.timeout, msg = blockTimeout(more[0]); msg != "" {
				return nil, msg
			}
		case equalFold(word, "count") && len(more) > 0:
			used = 2
			if r.count, ok = parseInt(more[0]); !ok {
				return nil, msgNotInteger
			}
			r.count = max(r.count, 0)
		case equalFold(word, "streams") && len(more) > 0:
			if len(more)%2 != 0 {
				return nil, "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified."
			}
			r.keys, r.ids = more[:len(more)/2], more[len(more)/2:]
		case equalFold(word, "group") && len(more) > 1:
			if !grouped {
				return nil, "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead."
			}
			r.group, r.consumer, used = more[0], more[1], 3
		case equalFold(word, "noack"):
			if !grouped {
				return nil, "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead."
			}
			r.noAck = true
		default:
			return nil, msgSyntax
		}
		args = args[used:]
	}
	if grouped && r.group == nil {
		return nil, "ERR Missing GROUP option for XREADGROUP"
	}
	// Where the command's keys were looked for, the word STREAMS may be a name or a number:
	// then others than these are latched.
	refs, err := x.cmd.keysOf(x.args, nil)
	if err != nil || len(refs) != len(r.keys) || refs[0].pos != len(x.args)-2*len(r.keys) {
		return nil, msgSyntax
	}
	return r, ""
}

// blockTimeout reads for how long a client waits, in ms.
func blockTimeout(b []byte) (ms int64, msg string) {
	ms, ok := parseInt(b)
	switch {
	case !ok:
		return 0, "ERR timeout is not an integer or out of range"
	case ms < 0:
		return 0, "ERR timeout is negative"
	}
	return ms, ""
}

// readAfter tells behind which IDs XREAD reads. It has replied, and returns false, if
// something is wrong with them or with a key.
func (x *call) readAfter(r *streamRead) (after []collection.ID, ok bool) {
	after = make([]collection.ID, len(r.keys))
	for i, word := range r.ids {
		s := &x.stream
		if !x.openStream(s, r.keys[i]) {
			return nil, false
		}
		switch string(word) {
		case "$":
			if after[i], ok = x.remembered(i); !ok {
				after[i] = s.Last
			}
		case ">":
			x.err("ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.")
			return nil, false
		default:
			if after[i], ok = parseStreamID(word, 0); !ok {
				x.err(msgStreamID)
				return nil, false
			}
		}
	}
	return after, true
}

// readStream replies with a stream's name and the entries behind an ID, if there are any.
func (x *call) readStream(key []byte, after collection.ID, count int64) (served bool, err error) {
	s := &x.stream
	// The head, which is in memory, tells most clients that there is nothing new.
	if err := s.Open(x.unit, key); err != nil {
		return false, err
	}
	if x.saw(key, s.Value()); s.Len() == 0 || after.Compare(s.Last) >= 0 {
		return false, nil
	}
	from, ok := after.Next()
	if !ok {
		return false, nil
	}
	if err := s.OpenWhole(x.unit, key); err != nil {
		return false, err
	}
	at := len(x.buf)
	x.streamName(key)
	n, err := x.entriesIn(s, from, collection.MaxID, count, false, nil)
	if err == nil && n == 0 {
		x.buf = x.buf[:at]
	}
	return n > 0, err
}

func cmdXreadgroup(x *call) {
	r, msg := x.parseStreamRead(true)
	if msg != "" {
		x.err(msg)
		return
	}
	if !x.nameFits(r.consumer) {
		return
	}
	reads := make([]groupRead, len(r.keys))
	for i := range reads {
		if !x.openGroupRead(&reads[i], r, i) {
			return
		}
	}
	at, n := len(x.buf), 0
	for i := range reads {
		g := &reads[i]
		x.looked(g.key, g.s.Value())
		err := g.reopen(x, i > 0, r.group)
		served := false
		if err == nil {
			served, err = g.serve(x, r)
		}
		if err != nil {
			x.buf = x.buf[:at]
			if errors.Is(err, errReplySize) {
				err = replyError(msgReplyTooLarge)
			}
			x.failPart(i > 0, err)
			return
		}
		if served {
			n++
		}
	}
	if n == 0 {
		if r.blocks {
			x.awaitNews(r)
		} else {
			x.nullArray()
		}
		return
	}
	x.insertStreams(at, n)
}

// A groupRead is one stream of an XREADGROUP.
type groupRead struct {
	key     []byte
	s       collection.Stream
	g       *collection.Group
	after   collection.ID
	history bool // of the consumer, instead of what nobody was given
}

// openGroupRead finds the group of the i-th stream. It has replied, and returns false, if
// there is none, or no ID.
func (x *call) openGroupRead(g *groupRead, r *streamRead, i int) (ok bool) {
	g.key = r.keys[i]
	if !x.openStream(&g.s, g.key) {
		return false
	}
	x.looked(g.key, g.s.Value())
	var err error
	if g.g, err = g.s.Group(r.group); err != nil {
		x.fail(err)
		return false
	}
	if g.g == nil {
		x.err(fmt.Sprintf("NOGROUP No such key '%s' or consumer group '%s' in XREADGROUP with GROUP option", whole(g.key), whole(r.group)))
		return false
	}
	switch word := string(r.ids[i]); word {
	case "$":
		x.err("ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.")
		return false
	case ">":
	default:
		if g.after, ok = parseStreamID(r.ids[i], 0); !ok {
			x.err(msgStreamID)
			return false
		}
		g.history = g.after != collection.MaxID // which Redis takes for ">"
	}
	return true
}

// reopen reads the group once more where another read of the command may have changed it.
func (g *groupRead) reopen(x *call, again bool, name []byte) (err error) {
	if !again {
		return nil
	}
	if err = g.s.Open(x.unit, g.key); err == nil {
		g.g, err = g.s.Group(name)
	}
	return err
}

// serve replies with the stream's name and entries. It is not served, and the consumer was not
// seen, if there is nothing new.
func (g *groupRead) serve(x *call, r *streamRead) (served bool, err error) {
	at := len(x.buf)
	var ids []collection.ID
	if !g.history {
		from, ok := g.g.Last.Next()
		if !ok || g.s.Len() == 0 || from.Compare(g.s.Last) > 0 {
			return false, nil
		}
		x.streamName(g.key)
		n, err := x.entriesIn(&g.s, from, collection.MaxID, r.count, false, func(id collection.ID) { ids = append(ids, id) })
		if err != nil || n == 0 {
			x.buf = x.buf[:at]
			return false, err
		}
	}
	c, err := x.consumer(g.g, g.key, r.consumer)
	if err != nil {
		return false, err
	}
	if g.history {
		x.streamName(g.key)
		err = g.replay(x, c, r.count)
	} else {
		err = g.deliver(x, c, ids, r.noAck)
	}
	if err == nil {
		g.g.Save()
	}
	return true, err
}

// deliver notes that entries were delivered to a consumer.
func (g *groupRead) deliver(x *call, c *collection.Consumer, ids []collection.ID, noAck bool) error {
	for _, id := range ids {
		g.g.Advance(id)
		if noAck {
			continue
		}
		old, err := g.g.Find(id) // if the group was set back
		if err != nil {
			return err
		}
		p := collection.Pending{ID: id, Time: x.unit.Now(), Count: 1, Consumer: c.Name}
		if err := g.g.Put(&p, old); err != nil {
			return err
		}
	}
	return nil
}

// replay replies with what is pending with the consumer behind an ID, and counts it as
// delivered once more.
func (g *groupRead) replay(x *call, c *collection.Consumer, count int64) error {
	at, n := len(x.buf), int64(0)
	from, _ := g.after.Next()
	var delivered []collection.ID
	var failure error
	err := g.g.EachOwned(c, from, collection.MaxID, func(id collection.ID) bool {
		var found bool
		if found, failure = x.entryOrNull(&g.s, id); found {
			delivered = append(delivered, id)
		}
		if n++; failure == nil && !x.mayGrow() {
			failure = errReplySize
		}
		return failure == nil && n != count
	})
	if err = errors.Join(failure, err); err != nil {
		return err
	}
	x.insertLength(at, '*', int(n))
	for _, id := range delivered {
		p, err := g.g.Find(id)
		if err != nil || p == nil {
			return errors.Join(errNotPending, err)
		}
		old := *p
		p.Time, p.Count = x.unit.Now(), p.Count+1
		if err := g.g.Put(p, &old); err != nil {
			return err
		}
	}
	return nil
}

// entryOrNull replies with an entry, without fields if it was removed.
func (x *call) entryOrNull(s *collection.Stream, id collection.ID) (found bool, err error) {
	fields, found, err := s.Get(id)
	if err != nil {
		return false, err
	}
	if found {
		return true, x.entry(id, fields)
	}
	x.array(2)
	x.streamID(id)
	x.nullArray()
	return false, nil
}

// errNotPending is a broken invariant of what is stored: a consumer has what its group does
// not know of.
var errNotPending = errors.New("a consumer has an entry that is not pending")
