package keyevents

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/store"
)

// An origin is another node as one that has events to tell.
type origin struct {
	run  string // its start
	next uint64 // the number that follows what was heard
	over bool   // it has said that it ends
	// goneAt is since when the node seems to be away, on the server's clock, and has said
	// nothing; 0 if it is there.
	goneAt time.Duration
}

// Answer takes in events of another node: RING EVENTS node run wants first events.
// The commits, each with its length before it, are numbered from first on; first is 0 if the
// node ends. The reply is what this node wants to know, and above notedShift what it has noted
// before it heard what the other one wants. It is false if the words are wrong.
func (e *Events) Answer(words [][]byte) (reply int64, ok bool) {
	wants, err1 := strconv.ParseUint(string(words[4]), 10, 32)
	first, err2 := strconv.ParseUint(string(words[5]), 10, 64)
	if err1 != nil || err2 != nil {
		return 0, false
	}
	noted, own := e.hear(string(words[2]), string(words[3]), wants, first, words[6])
	return int64(noted)<<notedShift | int64(own), true
}

const notedShift = 32

// hear takes in what a node says. What has been heard before comes again where an answer got
// lost. It returns what has been noted until then, and what this node wants to know.
func (e *Events) hear(node, run string, says, first uint64, commits []byte) (noted, own store.EventClass) {
	e.mu.Lock()
	defer e.mu.Unlock()
	noted, own = e.noted(), e.wants()
	wants := store.EventClass(says &^ (followFlag | anchorFlag))
	if e.ended {
		return noted, own
	}
	o := e.origins[node]
	if o != nil && o.run != run {
		if !o.over {
			e.reportGap(node)
		}
		o = nil
	}
	if o == nil {
		o = &origin{run: run, next: min(first, 1)}
		if !e.listens() {
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
		if says&(followFlag|anchorFlag) == followFlag {
			e.reportGap(node)
		} else {
			e.reportGapToClients(node)
		}
		o.next = first
	}
	for number := first; len(commits) > 0; number++ {
		n, w := binary.Uvarint(commits)
		if w <= 0 || n > uint64(len(commits)-w) {
			e.cfg.Logger.Error("key events of another node cannot be decoded", "node", node)
			return noted, own
		}
		events := commits[w : w+int(n)]
		commits = commits[w+int(n):]
		if number >= o.next {
			o.next = number + 1
			e.tell(events)
		}
	}
	return noted, own
}
