package resp

import (
	"strconv"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Another node asks what has changed here: RING HEED node session heard how prefixes. It has
// heard what is numbered up to that. How is one of these words.
const (
	heedFresh = "fresh" // nothing was heard in this session yet; here are the prefixes
	heedSay   = "say"   // here are other prefixes
	heedPark  = "park"  // the answer may wait until there is something
	heedRouse = "rouse" // that answer is to come at once
	heedEnd   = "end"   // it asks no more
)

// heedLost answers who is not known: it has to start again.
var heedLost = []byte("+LOST\r\n")

// cmdRingHeed replies with what text makes of the keys that have changed.
func cmdRingHeed(x *call) {
	node, session, how := string(x.Args[2]), string(x.Args[3]), string(x.Args[5])
	heard, err := strconv.ParseUint(string(x.Args[4]), 10, 64)
	if err != nil {
		x.Error(command.MsgNotInteger)
		return
	}
	var prefixes []string
	for _, p := range x.Args[6:] {
		prefixes = append(prefixes, string(p))
	}
	ts := &x.srv.tracking
	reply, waits := ts.heed(node, session, heard, how, prefixes)
	f := x.conn.from
	if !waits || len(f.group.batches) != 1 || f.group.batches[0].Requests != 1 {
		x.Buf = append(x.Buf, reply...)
		return
	}
	f.parked = func(answer func(Replies, error)) { ts.park(node, session, answer) }
}

// heed takes in what a node asks. It returns the answer, and whether that may wait.
func (ts *trackers) heed(node, session string, heard uint64, how string, prefixes []string) (reply []byte, waits bool) {
	var done []func()
	defer func() { run(done) }()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	k := ts.remote[node]
	if how == heedFresh && !ts.ended {
		if k != nil {
			done = ts.drop(k, done)
		}
		k = &remoteTracker{node: node, session: session, number: ts.numberOf(node)}
		ts.remote[node] = k
		ts.adapt()
	}
	if k == nil || k.session != session {
		return heedLost, false
	}
	switch how {
	case heedRouse:
		k.answer()
		return []byte("+OK\r\n"), false
	case heedEnd:
		done = ts.drop(k, done)
		ts.adapt()
		return []byte("+OK\r\n"), false
	case heedFresh, heedSay:
		k.broadcast, k.prefixes = len(prefixes) > 0, prefixes
	}
	k.heardAt = ts.srv.clock()
	done = k.heard(heard, done)
	return k.text(), how == heedPark && k.queue.Len() == 0
}

// park keeps an answer until there is something to tell.
func (ts *trackers) park(node, session string, answer func(Replies, error)) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	k := ts.remote[node]
	if k == nil || k.session != session {
		respond(answer, heedLost, StatusRun)
		return
	}
	k.answer() // an earlier one
	k.parked, k.parkedAt = answer, ts.srv.clock()
	if k.queue.Len() > 0 {
		k.answer()
	}
}

// text is what the remote tracker is told.
func (k *remoteTracker) text() []byte {
	return wire.AppendBulk(nil, k.queue.Append(nil))
}
