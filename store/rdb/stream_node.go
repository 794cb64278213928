package rdb

import (
	"fmt"
	"slices"
)

// A nodeReader reads a node of a stream, a listpack:
//
//	count | deleted | n | n fields | 0 | entries
//
// and an entry is
//
//	flags | ms and seq, less the node's | n and n fields with values, or n values of the
//	fields above | elements of this entry
type nodeReader struct {
	*streamReader
	elements elementReader
	first    StreamID
	master   [][]byte // fields of entries that do not name them
}

// next returns the next element; valid until it is called again.
func (n *nodeReader) next() []byte {
	if n.err != nil {
		return nil
	}
	element, ok, err := n.elements()
	if n.err = err; err == nil && !ok {
		n.err = errShort("node of a stream")
	}
	return element
}

func (n *nodeReader) int() (i int64) {
	element := n.next()
	if n.err == nil {
		i, n.err = strconvInt(element)
	}
	return i
}

func (n *nodeReader) read() {
	count, deleted, fields := n.int(), n.int(), n.int()
	for ; fields > 0 && n.err == nil; fields-- {
		n.master = append(n.master, slices.Clone(n.next()))
	}
	if n.int() != 0 {
		n.wrong("a node of a stream does not end where it should")
	}
	for n.err == nil {
		element, ok, err := n.elements()
		if err != nil || !ok {
			n.err = err
			break
		}
		flags, err := strconvInt(element)
		if n.err = err; flags&entryDeleted != 0 {
			deleted--
		} else {
			count--
		}
		n.entry(flags)
	}
	if count != 0 || deleted != 0 {
		n.wrong("a node of a stream has not as many entries as it says")
	}
}

func (n *nodeReader) entry(flags int64) {
	ms, seq := n.int(), n.int()
	id := StreamID{n.first.Ms + uint64(ms), n.first.Seq + uint64(seq)}
	n.buf, n.fields = n.buf[:0], n.fields[:0]
	var ends []int
	keep := func(b []byte) {
		n.count(len(b))
		n.buf = append(n.buf, b...)
		ends = append(ends, len(n.buf))
	}
	elements := int64(3)
	if flags&entrySameFields != 0 {
		for _, field := range n.master {
			keep(field)
			keep(n.next())
			if n.err != nil {
				return
			}
		}
		elements += int64(len(n.master))
	} else {
		fields := n.int()
		if fields < 0 {
			n.wrong("an entry of %d fields", fields)
		}
		for i := int64(0); i < fields && n.err == nil; i++ {
			keep(n.next())
			keep(n.next())
		}
		elements += 1 + 2*fields
	}
	if said := n.int(); said != elements {
		n.wrong("an entry of %d elements where %d are said to be", elements, said)
	}
	if n.err != nil || flags&entryDeleted != 0 {
		return
	}
	if id == (StreamID{}) || n.length > 0 && !n.last.less(id) {
		n.wrong("entries of a stream are not in order")
		return
	}
	start := 0
	for _, end := range ends {
		n.fields = append(n.fields, n.buf[start:end:end])
		start = end
	}
	n.last = id
	n.length++
	if len(ends) == 0 {
		n.wrong("an entry without fields")
		return
	}
	n.err = n.visitor.Entry(id, n.fields)
}

// consumers reads those of a group, each with the IDs of what is pending with it, which
// together must be all that is pending in the group.
func (r *streamReader) consumers(pending []StreamPending) {
	taken := make([]bool, len(pending))
	for n := r.uint(); n > 0 && r.err == nil; n-- {
		name, seen := r.text(), r.time()
		active := seen // the best guess, which is Redis', too
		if r.enc >= typeStream3 {
			if r.active != nil {
				r.active(len(r.p))
			}
			active = r.time()
		}
		if r.err == nil {
			r.err = r.visitor.Consumer(name, seen, active)
		}
		for owned := r.uint(); owned > 0 && r.err == nil; owned-- {
			id := r.rawID()
			i, ok := findPending(pending, id)
			if r.err == nil && (!ok || taken[i]) {
				r.err = fmt.Errorf("%w: a consumer has what is not pending, or twice", ErrFormat)
			}
			if r.err == nil {
				taken[i] = true
				r.err = r.visitor.Pending(pending[i])
			}
		}
	}
	if r.enc >= typeStream5 {
		r.released(pending, taken)
	}
	if slices.Contains(taken, false) {
		r.wrong("something is pending with no consumer")
	}
}

// released reads the IDs of what is pending with no consumer, since it was released.
func (r *streamReader) released(pending []StreamPending, taken []bool) {
	for n := r.uint(); n > 0 && r.err == nil; n-- {
		i, ok := findPending(pending, r.rawID())
		if r.err == nil && (!ok || taken[i]) {
			r.wrong("what was released is not pending, or is with a consumer")
		}
		if r.err == nil {
			taken[i] = true
			r.err = r.visitor.Released(pending[i])
		}
	}
}

func findPending(pending []StreamPending, id StreamID) (int, bool) {
	return slices.BinarySearchFunc(pending, id, func(p StreamPending, id StreamID) int {
		switch {
		case p.ID.less(id):
			return -1
		case id.less(p.ID):
			return 1
		}
		return 0
	})
}
