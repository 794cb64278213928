package rdb

import (
	"encoding/binary"
	"slices"
)

// A StreamWriter writes the payload of a stream in the form of Redis 5.0, 7.0, 7.2 or 8.8: first
// all entries, in their order, then the head, then each group with what is pending in it and its consumers.
type StreamWriter struct {
	dst   []byte
	form  byte   // the type byte
	short bool   // the form before Redis 7.0, with less in the head and in groups
	start int    // where the number of nodes belongs
	nodes uint64 // so far

	// The node that is being filled.
	first    StreamID
	fields   []byte // those of its first entry, as elements
	nfields  int
	entries  []byte
	n        int // entries
	elements int
	scratch  []byte
}

// As Redis' defaults for the nodes of a stream.
const (
	nodeEntries = 100
	nodeBytes   = 4096
)

// NewStreamWriter begins a payload behind dst, for servers that read an RDB version; with entries that were
// released only those that read [ReleasedVersion] can.
func NewStreamWriter(dst []byte, version int, released bool) *StreamWriter {
	w := &StreamWriter{form: typeStream2, short: version < Version && !released}
	switch {
	case released:
		w.form = typeStream5
	case w.short:
		w.form = typeStream1
	case version >= ActiveVersion:
		w.form = typeStream3
	}
	w.dst = append(dst, w.form)
	w.start = len(w.dst)
	return w
}

// Entry adds an entry: so many strings, values behind their fields, which each tells.
func (w *StreamWriter) Entry(id StreamID, n int, each func(yield func([]byte)) error) error {
	w.scratch = w.scratch[:0]
	if w.n == nodeEntries || w.n > 0 && len(w.fields)+len(w.entries) >= nodeBytes {
		w.flush()
	}
	var names, values, all []byte
	i := 0
	err := each(func(s []byte) {
		if i%2 == 0 {
			names = appendListpackText(names, s)
		} else {
			values = appendListpackText(values, s)
		}
		all = appendListpackText(all, s)
		i++
	})
	if err != nil {
		return err
	}
	if w.n == 0 {
		w.first, w.fields, w.nfields = id, names, n/2
	}
	same := n/2 == w.nfields && string(names) == string(w.fields)
	flags := int64(0)
	if same {
		flags = entrySameFields
	}
	e := appendListpackInt(w.entries, flags)
	e = appendListpackInt(e, int64(id.Ms-w.first.Ms))
	e = appendListpackInt(e, int64(id.Seq-w.first.Seq))
	count := 3 + n/2
	if same {
		e = append(e, values...)
	} else {
		e = append(appendListpackInt(e, int64(n/2)), all...)
		count = 4 + n
	}
	w.entries = appendListpackInt(e, int64(count))
	w.elements += count + 1
	w.n++
	return nil
}

// flush ends the node.
func (w *StreamWriter) flush() {
	if w.n == 0 {
		return
	}
	key := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, w.first.Ms), w.first.Seq)
	w.dst = appendString(w.dst, key)
	lp := append(w.scratch[:0], 0, 0, 0, 0, 0, 0)
	lp = appendListpackInt(lp, int64(w.n))
	lp = appendListpackInt(lp, 0)
	lp = appendListpackInt(lp, int64(w.nfields))
	lp = append(lp, w.fields...)
	lp = appendListpackInt(lp, 0)
	lp = append(lp, w.entries...)
	lp = frameListpack(lp, 0, 4+w.nfields+w.elements)
	w.dst = appendString(w.dst, lp)
	w.scratch = lp
	w.entries, w.n, w.elements = w.entries[:0], 0, 0
	w.nodes++
}

func (w *StreamWriter) uint(n uint64) { w.dst = appendLen(w.dst, n) }

func (w *StreamWriter) lenID(id StreamID) {
	w.uint(id.Ms)
	w.uint(id.Seq)
}

func (w *StreamWriter) rawID(id StreamID) {
	w.dst = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(w.dst, id.Ms), id.Seq)
}

// Head follows the last entry; so many groups follow it.
func (w *StreamWriter) Head(h StreamHead, groups uint64) {
	w.flush()
	w.dst = slices.Insert(w.dst, w.start, appendLen(nil, w.nodes)...)
	w.uint(h.Length)
	w.lenID(h.Last)
	if !w.short {
		w.lenID(h.First)
		w.lenID(h.MaxDeleted)
		w.uint(h.Added)
	}
	w.uint(groups)
}

// Group is followed by what is pending in it, so many, in the order of their IDs.
func (w *StreamWriter) Group(g StreamGroup, pending int64) {
	w.dst = appendString(w.dst, g.Name)
	w.lenID(g.Last)
	if !w.short {
		w.uint(uint64(g.Read))
	}
	w.uint(uint64(pending))
}

// Pending is one of those.
func (w *StreamWriter) Pending(p StreamPending) {
	w.rawID(p.ID)
	w.dst = binary.LittleEndian.AppendUint64(w.dst, uint64(p.Time))
	w.uint(p.Count)
}

// Consumers is followed by so many consumers.
func (w *StreamWriter) Consumers(n int64) { w.uint(uint64(n)) }

// Consumer is followed by the IDs of what is pending with it, so many. active is left out where the form has
// no room for it.
func (w *StreamWriter) Consumer(name []byte, seen, active, pending int64) {
	w.dst = appendString(w.dst, name)
	w.dst = binary.LittleEndian.AppendUint64(w.dst, uint64(seen))
	if w.form >= typeStream3 {
		w.dst = binary.LittleEndian.AppendUint64(w.dst, uint64(active))
	}
	w.uint(uint64(pending))
}

// Owned is one of those.
func (w *StreamWriter) Owned(id StreamID) { w.rawID(id) }

// Released follows the consumers of a group, where the writer was told that entries were released, and is
// followed by their IDs with Owned, so many, in the order in which they were.
func (w *StreamWriter) Released(n int64) { w.uint(uint64(n)) }

// As Redis' defaults for idempotent producers: for how many seconds it knows what they have sent, and how
// much.
const (
	producerSeconds = 100
	producerEntries = 100
)

// Bytes is all that was written, to be sealed.
func (w *StreamWriter) Bytes() []byte {
	if w.form >= typeStream4 {
		for _, n := range []uint64{producerSeconds, producerEntries, 0, 0, 0} {
			w.uint(n)
		}
	}
	return w.dst
}
