package keys

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/lists"
	"github.com/ringside-kv/ringside/resp/internal/types/zsets"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// SORT reads keys that follow from the elements, so no latch can be taken for them before.
// Those with the token of the sorted key have its latch; others are read where every key is
// this node's, so its lease holds for them, and only in a unit without latches, or with all:
// a unit that has some must not wait for one more. Without latches each key is read as of a
// moment of its own, as by a pipeline of GETs; what is stored is of one moment. In a
// transaction or a script the unit is begun anew with the latch of a key that it comes upon.

// errSortMemory is the error for what takes more memory than a client may have replies.
var errSortMemory = command.LimitError("ERR SORT needs more memory here than a client's output buffer may have; LIMIT lessens it")

// A sorter sorts one collection.
type sorter struct {
	*command.Call
	o     *sortOptions
	each  eachElement
	count int64 // elements
	bytes int64 // that they hold
	set   bool  // they are in no order
	items []sortItem
	seen  int // how many have been
	from  int // the first of items that is asked for
	to    int // and the one behind the last
	out   [][]byte
	used  int64 // bytes of memory
}

var (
	// errWidens: the command has come upon a key whose latch it needs, and waits for that.
	errWidens = errors.New("sort: another key's latch is needed")
)

// An eachElement calls yield for elements of a collection, from one up to, not including,
// another, until it returns false. What yield gets is valid until it returns.
type eachElement func(from, to int64, back bool, yield func(element []byte) bool) error

// A sortItem is an element, with what it is sorted by.
type sortItem struct {
	element []byte
	number  float64
	text    []byte // with BY and ALPHA; nil: there is none
	at      int    // where it came
}

// itemSize is what an item takes beside its bytes.
const itemSize = 80

// uses notes that n more bytes are used; false is too much.
func (s *sorter) uses(n int) bool {
	s.used += int64(n)
	return s.FitsReply(s.used) && s.Take(int64(n))
}

// open finds the collection. It has replied, and returns false, if there is nothing to sort.
func (s *sorter) open() bool {
	x := s.Call
	v, err := x.Unit.GetWhole(x.Args[1])
	if err != nil {
		x.Fail(err)
		return false
	}
	x.CountSource(x.Args[1], &v)
	switch v.Type {
	case store.List:
		l := &x.List
		if !lists.OpenWholeList(x, l, x.Args[1]) {
			return false
		}
		s.count = l.Len()
		s.each = func(from, to int64, back bool, yield func([]byte) bool) error {
			if from >= to {
				return nil
			}
			if back {
				from, to = s.count-to, s.count-from
			}
			return l.Range(from, to-1, back, func(_ int64, e []byte) bool { return yield(e) })
		}
	case store.Set:
		t := &x.Table
		if !x.OpenWholeTable(t, x.Args[1], store.Set) {
			return false
		}
		s.set, s.count = true, t.Len()
		s.each = func(from, to int64, _ bool, yield func([]byte) bool) error {
			i := int64(-1)
			return t.All(func(member, _ []byte) bool {
				i++
				return i < from || i < to && yield(member)
			})
		}
	case store.ZSet:
		z := &x.ZSet
		if !zsets.OpenWholeZSet(x, z, x.Args[1]) {
			return false
		}
		s.count = z.Len()
		s.each = func(from, to int64, back bool, yield func([]byte) bool) error {
			if from >= to {
				return nil
			}
			if back {
				from, to = s.count-to, s.count-from
			}
			return z.RangeAt(from, to-1, back, func(member []byte, _ float64) bool { return yield(member) })
		}
	default:
		x.CountRead(x.Args[1], &v)
		if v.Exists() {
			x.Error(command.MsgWrongType)
			return false
		}
		s.each = func(int64, int64, bool, func([]byte) bool) error { return nil }
	}
	s.bytes = v.Size
	return true
}

// limits returns which elements are asked for, in order: from one up to, not including,
// another.
func (s *sorter) limits() (from, to int64) {
	from = min(max(s.o.from, 0), s.count)
	if to = s.count; s.o.count >= 0 {
		to = from + min(s.o.count, s.count-from)
	}
	return from, to
}

// sort reads the elements that are asked for, in order.
func (s *sorter) sort() error {
	o := s.o
	from, to := s.limits()
	if o.unsorted && s.set && (o.store != nil || s.InScript) {
		// In no order of its own, what is stored would differ from time to time, and so would
		// what a script makes of it.
		o.unsorted, o.alpha, o.by = false, true, sortPattern{}
	}
	if o.unsorted {
		if from == to {
			return nil
		}
		s.to = int(to - from)
		return s.read(from, to, o.desc, nil)
	}
	s.from, s.to = int(from), int(to)
	keep := s.to
	cut := func() {
		if len(s.items) >= 2*keep+1024 && keep < int(s.count) {
			s.arrange(keep)
		}
	}
	err := s.read(0, s.count, false, cut)
	s.arrange(keep)
	return err
}

// arrange sorts the items and drops all behind the first few.
func (s *sorter) arrange(keep int) {
	slices.SortFunc(s.items, s.compare)
	for i := keep; i < len(s.items); i++ {
		it := &s.items[i]
		s.used -= int64(itemSize + len(it.element))
		s.Taken -= int64(itemSize + len(it.element))
		*it = sortItem{}
	}
	s.items = s.items[:min(keep, len(s.items))]
}

// read makes items of elements; after each of them it calls then, if given.
func (s *sorter) read(from, to int64, back bool, then func()) error {
	var failure error
	wrong := false
	err := s.each(from, to, back, func(element []byte) bool {
		if !s.uses(itemSize + len(element)) {
			failure = errSortMemory
			return false
		}
		it := sortItem{element: append([]byte{}, element...), at: s.seen} // nil is none
		s.seen++
		if !s.o.unsorted {
			ok := true
			if ok, failure = s.weigh(&it); failure != nil {
				return false
			}
			wrong = wrong || !ok
		}
		s.items = append(s.items, it)
		if then != nil {
			then()
		}
		return true
	})
	if err = cmp.Or(failure, err); err == nil && wrong {
		err = command.ReplyError("ERR One or more scores can't be converted into double")
	}
	return err
}

// weigh finds what an item is sorted by; false is what is no number.
func (s *sorter) weigh(it *sortItem) (ok bool, err error) {
	value := it.element
	if s.o.by.names {
		if value, ok, err = s.find(&s.o.by, it.element); err != nil || !ok {
			return true, err
		}
	}
	if s.o.alpha {
		if it.text = value; value == nil {
			it.text = []byte{}
		}
		return true, nil
	}
	it.number, ok = sortNumber(value)
	return ok, nil
}

// sortNumber reads a number as C's strtod does, which skips white space in front and stops at
// a zero byte. Nothing at all is 0.
func sortNumber(b []byte) (float64, bool) {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	if len(b) == 0 {
		return 0, true
	}
	f, ok := wire.ParseFloat(bytes.TrimLeft(b, " \t\n\v\f\r"))
	// What is smaller than any normal number is out of range, too.
	return f, ok && (f == 0 || math.Abs(f) >= 0x1p-1022)
}

// compare tells which of two items comes first.
func (s *sorter) compare(a, b sortItem) int {
	order := 0
	switch {
	case !s.o.alpha:
		if order = cmp.Compare(a.number, b.number); order == 0 {
			order = bytes.Compare(a.element, b.element)
		}
	case a.text == nil || b.text == nil:
		order = b2i(a.text != nil) - b2i(b.text != nil)
	default:
		order = bytes.Compare(a.text, b.text)
	}
	if s.o.desc {
		order = -order
	}
	return cmp.Or(order, cmp.Compare(a.at, b.at))
}

// collect makes of the items what is to be returned; nil is what is not there.
func (s *sorter) collect() error {
	s.from, s.to = min(s.from, len(s.items)), min(s.to, len(s.items))
	for i := s.from; i < s.to; i++ {
		element := s.items[i].element
		if len(s.o.get) == 0 {
			s.out = append(s.out, element)
		}
		for j := range s.o.get {
			value, ok, err := s.find(&s.o.get[j], element)
			switch {
			case err != nil:
				return err
			case !ok:
				value = nil
			case value == nil:
				value = []byte{}
			}
			if !s.uses(len(value) + command.ElementReply) {
				return errSortMemory
			}
			s.out = append(s.out, value)
		}
	}
	return nil
}

func (s *sorter) reply() {
	x := s.Call
	x.Array(len(s.out))
	for _, value := range s.out {
		if value == nil {
			x.Null()
		} else {
			x.Bulk(value)
		}
	}
}

// store makes a list of the result, or removes the key if it is empty.
func (s *sorter) store() {
	x := s.Call
	old, err := x.Unit.Get(s.o.store)
	if err != nil {
		x.Fail(err)
		return
	}
	l := &x.List
	lists.Limit(x, l)
	l.Over(x.Unit, s.o.store, old)
	x.Unit.SetReplacing(old.Exists())
	defer x.Unit.SetReplacing(false)
	err = l.Replace(func(yield func([]byte) error) error {
		for _, value := range s.out {
			if err := yield(value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		x.Fail(err)
		return
	}
	l.SetLarge(lists.IsLargeWith(x, l))
	x.NoteStored(store.EventList, "sortstore", s.o.store, old, int64(len(s.out)))
	x.Int(int64(len(s.out)))
}
