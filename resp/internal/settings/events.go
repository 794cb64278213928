package settings

import (
	"strings"

	"github.com/ringside-kv/ringside/store"
)

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

// ParseEvents reads a value of notify-keyspace-events.
func ParseEvents(text string) (c store.EventClass, ok bool) {
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

// EventsText shows classes as Redis does, which leaves out n behind A.
func EventsText(c store.EventClass) string {
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

// CheckEvents returns what is wrong with a value of notify-keyspace-events, or "".
func CheckEvents(text string) string {
	if _, ok := ParseEvents(text); !ok {
		return FaultEvents
	}
	return ""
}
