package feed

import (
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

// The print of a world is a hash of all that decides how it may go on. Worlds of the same
// print are one: what is not in it is how a world came about (its trace, its steps), and
// the order of what has no order (messages, tasks, maps). What functions would go by is
// said beside them, in fields named about.

// A printer hashes values. It follows pointers by what they point at.
type printer struct {
	states map[uintptr]uint64 // states of the table are what led to them
	known  map[uintptr]uint64
}

// mixed adds a word to a hash.
func mixed(h, w uint64) uint64 {
	h ^= w + 0x9e3779b97f4a7c15 + h<<6 + h>>2
	h *= 0xff51afd7ed558ccd
	return h ^ h>>32
}

func printOf(v ...any) uint64 {
	p := &printer{known: map[uintptr]uint64{}}
	h := uint64(1)
	for _, one := range v {
		h = mixed(h, p.of(reflect.ValueOf(one)))
	}
	return h
}

var (
	typeWorld = reflect.TypeFor[world]()
	typeNode  = reflect.TypeFor[mnode]()
	typeState = reflect.TypeFor[table.State]()
	typeConn  = reflect.TypeFor[mconn]()
)

// apart are fields that say nothing of what may come, or what others say, too.
var apart = map[reflect.Type][]string{
	typeWorld:                       {"chooser", "weight", "trace", "steps", "count", "states", "history", "out", "times", "loose", "nodes"},
	typeNode:                        {"w", "order"},
	typeConn:                        {"fl", "from"},
	reflect.TypeFor[session]():      {"unackedChanges"},
	reflect.TypeFor[primaryState](): {"output", "rules"},
	reflect.TypeFor[backupState]():  {"rules"},
	reflect.TypeFor[action]():       {"name"},
	reflect.TypeFor[feedFrame]():    {"pending"},
	reflect.TypeFor[time.Time]():    {"loc"},
}

// unordered are lists of what comes in any order.
var unordered = map[reflect.Type]bool{
	reflect.TypeFor[[]*letter]():   true,
	reflect.TypeFor[[]*proposal](): true,
	reflect.TypeFor[[]*mtask]():    true,
	reflect.TypeFor[[]*op]():       true,
	reflect.TypeFor[[]*mcopy]():    true,
	reflect.TypeFor[[]*quorum]():   true,
}

// print is that of the whole world.
func (w *world) print() uint64 {
	p := &printer{states: make(map[uintptr]uint64, len(w.states)), known: make(map[uintptr]uint64, 64)}
	for i, st := range w.states {
		p.states[reflect.ValueOf(st).Pointer()] = w.history[i]
	}
	h := p.fields(reflect.ValueOf(w).Elem())
	for _, n := range w.nodes {
		h = mixed(h, p.fields(reflect.ValueOf(n).Elem()))
	}
	h = mixed(h, w.history[len(w.history)-1])
	// Of old connections that counts of which something may still arrive.
	for _, c := range w.loose {
		if len(c.flight) > 0 || !c.dead {
			h += mixed(p.fields(reflect.ValueOf(c).Elem()), mixed(c.session(), p.of(reflect.ValueOf(c.from))))
		}
	}
	return h
}

func (p *printer) fields(v reflect.Value) uint64 {
	t := v.Type()
	h := uint64(t.NumField())
	skip := apart[t]
	for i := range t.NumField() {
		if len(skip) == 0 || !slices.Contains(skip, t.Field(i).Name) {
			h = mixed(h, p.of(v.Field(i)))
		}
	}
	return h
}

func (p *printer) of(v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return 3
		}
		return 2
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return uint64(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return v.Uint()
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(v.Float())
	case reflect.String:
		h := uint64(14695981039346656037)
		for _, b := range []byte(v.String()) {
			h = (h ^ uint64(b)) * 1099511628211
		}
		return h
	case reflect.Slice, reflect.Array:
		h := uint64(v.Len())
		any := unordered[v.Type()]
		for i := range v.Len() {
			if any {
				h += mixed(5, p.of(v.Index(i)))
			} else {
				h = mixed(h, p.of(v.Index(i)))
			}
		}
		return h
	case reflect.Map:
		h := uint64(v.Len())
		for i := v.MapRange(); i.Next(); {
			h += mixed(mixed(7, p.of(i.Key())), p.of(i.Value()))
		}
		return h
	case reflect.Interface:
		if v.IsNil() {
			return 0
		}
		return mixed(p.of(reflect.ValueOf(v.Elem().Type().String())), p.of(v.Elem()))
	case reflect.Struct:
		return p.fields(v)
	case reflect.Pointer:
		return p.at(v)
	}
	return 0 // functions
}

func (p *printer) at(v reflect.Value) uint64 {
	if v.IsNil() {
		return 0
	}
	switch v.Type().Elem() {
	case typeWorld:
		return 11
	case typeState:
		return p.states[v.Pointer()]
	case typeNode:
		return p.of(v.Elem().FieldByName("id"))
	}
	if h, ok := p.known[v.Pointer()]; ok {
		return h
	}
	p.known[v.Pointer()] = 13 // if it leads back to itself
	h := p.fields(v.Elem())
	p.known[v.Pointer()] = h
	return h
}
