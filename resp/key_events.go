package resp

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/store"
)

// Key events: what happens to keys is told on channels, as Redis' notify-keyspace-events
// says. Commands note events with their unit (store.Unit.Note); once its commit has settled
// they come here, in the order of commits.

// eventClasses are the letters of notify-keyspace-events, in the order in which it is shown.
var eventClasses = []struct {
	letter byte
	class  store.EventClass
}{
	{'g', store.EventGeneric}, {'$', store.EventString}, {'l', store.EventList}, {'s', store.EventSet},
	{'h', store.EventHash}, {'z', store.EventSortedSet}, {'x', store.EventExpired}, {'e', store.EventEvicted},
	{'t', store.EventStream}, {'d', store.EventModule}, {'n', store.EventNew},
	{'K', store.EventByKey}, {'E', store.EventByName}, {'m', store.EventMiss},
}

// eventsOfA is what the letter A stands for.
const eventsOfA = store.EventGeneric | store.EventString | store.EventList | store.EventSet | store.EventHash |
	store.EventSortedSet | store.EventExpired | store.EventEvicted | store.EventStream | store.EventModule

// parseEvents reads a value of notify-keyspace-events.
func parseEvents(text string) (c store.EventClass, ok bool) {
letters:
	for i := range len(text) {
		if text[i] == 'A' {
			c |= eventsOfA
			continue
		}
		for _, known := range eventClasses {
			if known.letter == text[i] {
				c |= known.class
				continue letters
			}
		}
		return 0, false
	}
	return c, true
}

// eventsText shows classes as Redis does, which leaves out n behind A.
func eventsText(c store.EventClass) string {
	var b strings.Builder
	all := c&eventsOfA == eventsOfA
	if all {
		b.WriteByte('A')
	}
	for _, known := range eventClasses {
		if c&known.class != 0 && !(all && known.class&(eventsOfA|store.EventNew) != 0) {
			b.WriteByte(known.letter)
		}
	}
	return b.String()
}

// keyEvents are what a server makes of the events of its store.
type keyEvents struct {
	srv *Server
	own atomic.Uint32 // store.EventClass that this node was told to tell

	mu sync.Mutex // guards what follows; the store's sink holds it
	mailing
	channel []byte
}

func (e *keyEvents) init(s *Server) {
	e.srv = s
	s.store.SetEventSink(e.take)
}

// setOwn is CONFIG SET notify-keyspace-events.
func (e *keyEvents) setOwn(c store.EventClass) {
	e.own.Store(uint32(c))
	e.apply()
}

// apply has the store note what anybody wants to know: nothing where that is told by
// no channel.
func (e *keyEvents) apply() {
	c := store.EventClass(e.own.Load())
	if c&(store.EventByKey|store.EventByName) == 0 {
		c = 0
	}
	e.srv.store.WantEvents(c)
}

// take implements store.EventSink.
func (e *keyEvents) take(events []byte, done func()) (waits bool) {
	e.tell(events)
	return false
}

// tell publishes events to the clients of this node.
func (e *keyEvents) tell(events []byte) {
	if e.srv.pubsub.n.Load() == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	how := store.EventClass(e.own.Load())
	_ = store.EachEvent(events, func(c store.EventClass, name, key []byte) {
		if how&store.EventByKey != 0 {
			e.channel = append(append(e.channel[:0], "__keyspace@0__:"...), key...)
			e.srv.pubsub.deliver(&e.mailing, subChannel, e.channel, name)
		}
		if how&store.EventByName != 0 {
			e.channel = append(append(e.channel[:0], "__keyevent@0__:"...), name...)
			e.srv.pubsub.deliver(&e.mailing, subChannel, e.channel, key)
		}
	})
	e.kick()
}

func (s *Server) parseEventSetting(value string) (func(), string) {
	c, ok := parseEvents(value)
	if !ok {
		return nil, "Invalid event class character. Use 'Ag$lshzxeKEtmdn'."
	}
	return func() { s.keyEvents.setOwn(c) }, ""
}
