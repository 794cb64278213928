package quota

import (
	"bytes"
	"math/rand/v2"
	"sort"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// maxVisited is how many keys a draw looks at to find such as may be evicted.
const maxVisited = 512

// A drawer draws random keys. Keys that follow each other in the order of tokens are no more alike
// than any others, so that one look at a random place brings many.
//
// While the cache knows nearly all keys, most draws are from the cache, which costs a tenth: a draw from disk reads the
// values of the keys, and has the writes of their slices go to Pebble first.
type drawer struct {
	store  *store.Store
	spans  func() []ring.Range
	places []uint16 // slices with keys that may be evicted, to begin at
	cached int      // how many draws come from the cache before the next from disk
	known  int      // how many they are, at first
}

const (
	// rareUncached: draws are from the cache if it knows all but one of so many keys that a draw from disk has found.
	rareUncached = 16
	// cachedDraws is how many draws are from the cache then, before another one from disk: twice as many each time that
	// this finds only keys that the cache knows, up to mostCachedDraws.
	cachedDraws     = 64
	mostCachedDraws = 1024
	// maxSlots is how many slots of the cache's index a draw looks at.
	maxSlots = 1024
)

// A request says which keys are to be drawn.
type request struct {
	policy   settings.Policy
	database int // -1: all
	count    int
	// may reports whether a key may be drawn, by its database and whether it has an expiry.
	may func(database int, expires bool) bool
}

// wants reports whether a key may be drawn.
func (r *request) wants(e *store.Entry) bool {
	n := database.Of(e.Key)
	return (r.database < 0 || n == r.database) && (!r.policy.IsVolatile() || e.Expiry != 0) && r.may(n, e.Expiry != 0)
}

// A draw is what was found.
type draw struct {
	all         []candidate
	visited     int
	first, last store.Place
}

// draw returns about as many keys as are wanted, or fewer if it has looked at many others.
func (d *drawer) draw(r *request) ([]candidate, error) {
	spans := d.spans()
	if len(spans) == 0 {
		return nil, nil
	}
	if d.cached > 0 {
		d.cached--
		if all := d.drawCached(r, spans); len(all) >= r.count/2 {
			return all, nil
		}
		d.cached = 0 // the cache has few of the keys that are wanted
	}
	all, err := d.drawAny(r, spans)
	uncached := 0
	for i := range all {
		if !all[i].cached {
			uncached++
		}
	}
	switch {
	case len(all) < r.count/2 || uncached > len(all)/rareUncached:
		d.known = 0
	case uncached > 0:
		d.known = cachedDraws
	default:
		d.known = min(max(cachedDraws, 2*d.known), mostCachedDraws)
	}
	d.cached = d.known
	return all, err
}

// drawCached draws keys that the cache knows.
func (d *drawer) drawCached(r *request, spans []ring.Range) (all []candidate) {
	all = make([]candidate, 0, r.count)
	keys := make([]byte, 0, 32*r.count)
	d.store.SampleCached(maxSlots, func(e store.Entry, u store.Usage) bool {
		if r.wants(&e) && isIn(spans, e.Place.Token()) {
			start := len(keys)
			keys = append(keys, e.Key...)
			all = append(all, candidate{keys[start:len(keys):len(keys)], e.Place, e.Bytes, e.Expiry, true, u.Idle, u.Frequency})
		}
		return len(all) < r.count
	})
	return all
}

// isIn reports whether a token lies in one of some spans, which are in the order of tokens. The last may wrap.
func isIn(spans []ring.Range, t ring.Token) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].Start > t })
	return spans[(i+len(spans)-1)%len(spans)].Contains(t)
}

// drawAny draws keys from disk.
func (d *drawer) drawAny(r *request, spans []ring.Range) ([]candidate, error) {
	span, at, ok := d.begin(r, spans)
	if !ok {
		return nil, nil
	}
	var found draw
	from := store.CursorAt(at)
	for i := range len(spans) + 1 {
		s := spans[(span+i)%len(spans)]
		if i > 0 {
			from = store.CursorAt(s.Start)
		}
		if done, err := d.scan(r, s, from, &found); done || err != nil {
			if err != nil {
				return nil, err
			}
			break
		}
	}
	token := found.first.Token()
	if found.visited < r.count || token != found.last.Token() {
		return found.all, nil
	}
	// Many keys have one token, as a hash tag gives it to them: begin anywhere among them.
	found = draw{}
	s := ring.Range{Start: token, End: token + 1}
	done, err := d.scan(r, s, store.CursorAt(token)|store.Cursor(rand.Uint32N(1<<20)), &found)
	if err == nil && !done {
		_, err = d.scan(r, s, store.CursorAt(token), &found)
	}
	return found.all, err
}

// scan adds keys of a span from a cursor on. done tells that they are enough.
func (d *drawer) scan(r *request, span ring.Range, from store.Cursor, to *draw) (done bool, err error) {
	_, _, err = d.store.ScanIn(span, from, maxVisited, func(e store.Entry) bool {
		if to.visited == 0 {
			to.first = e.Place
		}
		to.visited++
		to.last = e.Place
		if r.wants(&e) {
			c := candidate{key: bytes.Clone(e.Key), place: e.Place, bytes: e.Bytes, expiry: e.Expiry}
			d.look(&c)
			to.all = append(to.all, c)
		}
		return len(to.all) < r.count && to.visited < maxVisited
	})
	return len(to.all) >= r.count || to.visited >= maxVisited, err
}

// begin chooses where a draw begins: a token of one of the spans.
func (d *drawer) begin(r *request, spans []ring.Range) (span int, at ring.Token, ok bool) {
	if r.database >= 0 || r.policy.IsVolatile() {
		return d.beginAmong(r, spans)
	}
	total := uint64(0)
	for _, s := range spans {
		total += s.Len()
	}
	left := rand.Uint64N(total)
	for i, s := range spans {
		if n := s.Len(); left >= n {
			left -= n
			continue
		}
		return i, s.Start + ring.Token(left), true
	}
	return 0, 0, false
}

// beginAmong is begin where few of the keys may be the ones that are wanted: it goes by the counts of
// slices. As it looks at all of them, it chooses several at a time.
func (d *drawer) beginAmong(r *request, spans []ring.Range) (span int, at ring.Token, ok bool) {
	if len(d.places) == 0 {
		d.places = d.sample(r, spans)
	}
	if len(d.places) == 0 {
		return 0, 0, false
	}
	slice := d.places[len(d.places)-1]
	d.places = d.places[:len(d.places)-1]
	at = ring.Token(slice)<<16 | ring.Token(rand.Uint32N(1<<16))
	for i, s := range spans {
		if s.Contains(at) {
			return i, at, true
		}
	}
	// The slice is another node's in part, or as a whole by now.
	for i, s := range spans {
		if s.Start>>16 <= ring.Token(slice) && ring.Token(slice) <= (s.End-1)>>16 {
			return i, max(s.Start, ring.Token(slice)<<16), true
		}
	}
	return 0, spans[0].Start, true
}

// sampledSlices is how many slices sample chooses.
const sampledSlices = 32

// sample chooses slices, each as likely as it has keys that may be evicted.
func (d *drawer) sample(r *request, spans []ring.Range) (chosen []uint16) {
	total := int64(0)
	for _, s := range spans {
		for slice := int(s.Start >> 16); slice <= int((s.End-1)>>16); slice++ {
			l := d.store.SliceLoad(r.database, uint16(slice))
			n := l.Keys
			if r.policy.IsVolatile() {
				n = l.Expires
			}
			if n <= 0 {
				continue
			}
			total += n
			for i := range sampledSlices {
				switch {
				case i == len(chosen):
					chosen = append(chosen, uint16(slice))
				case rand.Int64N(total) < n:
					chosen[i] = uint16(slice)
				}
			}
		}
	}
	return chosen
}

// look brings up to date what is known of the use of a key.
func (d *drawer) look(c *candidate) {
	u, ok := d.store.Usage(c.key)
	c.cached, c.idle, c.uses = ok, u.Idle, u.Frequency
}
