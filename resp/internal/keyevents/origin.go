package resp

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

// An eventOrigin is another node as one that has events to tell.
type eventOrigin struct {
	run  string // its start
	next uint64 // the number that follows what was heard
	over bool   // it has said that it ends
	// goneAt is since when the node seems to be away, on the server's clock, and has said
	// nothing; 0 if it is there.
	goneAt time.Duration
}

// cmdRingEvents takes in events of another node: RING EVENTS node run wants first events.
// The commits, each with its length before it, are numbered from first on; first is 0 if the
// node ends. The reply is what this node wants to know, and above notedShift what it has noted
// before it heard what the other one wants.
func cmdRingEvents(x *call) {
	wants, err1 := strconv.ParseUint(string(x.Args[4]), 10, 32)
	first, err2 := strconv.ParseUint(string(x.Args[5]), 10, 64)
	if err1 != nil || err2 != nil {
		x.Error(command.MsgNotInteger)
		return
	}
	e := &x.srv.keyEvents
	noted := e.hear(string(x.Args[2]), string(x.Args[3]), store.EventClass(wants), first, x.Args[6])
	x.Int(int64(noted)<<notedShift | int64(e.own.Load()))
}

const notedShift = 32

// hear takes in what a node says. What has been heard before comes again where an answer got
// lost. It returns what has been noted until then.
func (e *keyEvents) hear(node, run string, wants store.EventClass, first uint64, commits []byte) (noted store.EventClass) {
	e.mu.Lock()
	defer e.mu.Unlock()
	noted = e.noted()
	if e.ended {
		return noted
	}
	o := e.origins[node]
	if o != nil && o.run != run {
		if !o.over {
			e.reportGap(node)
		}
		o = nil
	}
	if o == nil {
		o = &eventOrigin{run: run, next: min(first, 1)}
		if e.srv.pubsub.Len() == 0 {
			o.next = first // whoever subscribes from now on misses nothing
		}
		e.origins[node] = o
	}
	o.goneAt = 0
	if first == 0 {
		o.over = true
		wants = 0
	}
	e.setOther(node, wants)
	if first > o.next {
		e.reportGap(node)
		o.next = first
	}
	for number := first; len(commits) > 0; number++ {
		n, w := binary.Uvarint(commits)
		if w <= 0 || n > uint64(len(commits)-w) {
			e.srv.log.Error("key events of another node cannot be decoded", "node", node)
			return noted
		}
		events := commits[w : w+int(n)]
		commits = commits[w+int(n):]
		if number >= o.next {
			o.next = number + 1
			e.tell(events)
		}
	}
	return noted
}
