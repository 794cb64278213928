package digest

import (
	"encoding/binary"
	"fmt"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
)

// Digests of the first level travel as
//
//	version 1 B | From | End | groups, each: Start | count uvarint | sum 8 B LE
//
// with positions as
//
//	uvarint: 2 × how many bytes it begins with as the one before does, + 1 if it is a
//	place, of which zeros at the end are left out | number of further bytes uvarint | these
//
// and those of the second level, for groups that both sides know, as
//
//	version 1 B | groups, each: number behind the one before uvarint | 0: all that there is
//	is the first level, or number of entries + 1 uvarint | entries, each: uvarint: 2 × length
//	of the key, + 1 if there is a sub key | key | if so: length uvarint | sub key | sum 8 B LE
//
// since the place follows from the key.
const version = 2

// Append appends the first level as it travels.
func (d *Digests) Append(dst []byte) []byte {
	dst = append(dst, version)
	dst = appendBehind(appendBehind(dst, nil, d.From), d.From, d.End)
	last := d.From
	for i := range d.Groups {
		g := &d.Groups[i]
		dst = appendBehind(dst, last, g.Start)
		dst = binary.AppendUvarint(dst, uint64(g.Count))
		dst = binary.LittleEndian.AppendUint64(dst, g.Sum)
		last = g.Start
	}
	return dst
}

// appendBehind appends a position by what it has not in common with the one before.
func appendBehind(dst []byte, last, p layout.Position) []byte {
	bare := uint64(0)
	if len(p) == layout.PlaceSize {
		bare = 1
		for len(p) > 0 && p[len(p)-1] == 0 {
			p = p[:len(p)-1]
		}
	}
	shared := 0
	for shared < min(len(last), len(p), layout.PlaceSize) && last[shared] == p[shared] {
		shared++
	}
	dst = binary.AppendUvarint(dst, uint64(shared)<<1|bare)
	return ops.AppendBytes(dst, p[shared:])
}

// Parse reads what Append writes. What it returns shares b's memory in part.
// Whether it fits a range, those who are given it check.
func Parse(b []byte) (*Digests, error) {
	p := parser{b: b}
	p.version()
	d := &Digests{From: p.behind(nil)}
	d.End = p.behind(d.From)
	last := d.From
	for len(p.b) > 0 && !p.bad {
		g := Group{Start: p.behind(last), Count: int(p.uvarint() & 0xffffffff), Sum: p.sum()}
		d.Groups = append(d.Groups, g)
		last = g.Start
	}
	return d, p.err()
}

// AppendEntries appends the second level of some groups, whose numbers ascend, as it
// travels.
func (d *Digests) AppendEntries(dst []byte, groups []int) []byte {
	dst = append(dst, version)
	last := 0
	for _, i := range groups {
		dst = binary.AppendUvarint(dst, uint64(i-last))
		last = i
		g := &d.Groups[i]
		if !g.Detailed {
			dst = append(dst, 0)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(g.Entries))+1)
		for _, e := range g.Entries {
			key, sub := e.At.Split()
			long := uint64(0)
			if len(sub) > 0 {
				long = 1
			}
			dst = append(binary.AppendUvarint(dst, uint64(len(key))<<1|long), key...)
			if len(sub) > 0 {
				dst = ops.AppendBytes(dst, sub)
			}
			dst = binary.LittleEndian.AppendUint64(dst, e.Sum)
		}
	}
	return dst
}

// TakeEntries reads what another store's AppendEntries writes, into that one's digests.
func TakeEntries(token ring.TokenFunc, d *Digests, b []byte) error {
	p := parser{b: b}
	p.version()
	at := uint64(0)
	for len(p.b) > 0 && !p.bad {
		if at += p.uvarint(); at >= uint64(len(d.Groups)) {
			p.bad = true
			break
		}
		g := &d.Groups[at]
		n := p.uvarint()
		if g.Entries, g.Detailed = nil, n > 0; n == 0 {
			continue
		}
		for ; n > 1 && !p.bad; n-- {
			size := p.uvarint()
			key := p.take(size >> 1)
			var sub []byte
			if size&1 != 0 {
				sub = p.take(p.uvarint())
			}
			if sum := p.sum(); !p.bad {
				g.Entries = append(g.Entries, EntryDigest{layout.EntryPosition(nil, layout.PlaceOf(token, key), key, sub), sum})
			}
		}
	}
	return p.err()
}

// A parser reads from b until something is bad.
type parser struct {
	b   []byte
	bad bool
}

func (p *parser) err() error {
	if p.bad {
		return fmt.Errorf("%w: digests are cut off, or of another version", ops.ErrMalformed)
	}
	return nil
}

func (p *parser) version() {
	if v := p.take(1); v == nil || v[0] != version {
		p.bad = true
	}
}

func (p *parser) take(n uint64) []byte {
	if p.bad || uint64(len(p.b)) < n {
		p.bad = true
		return nil
	}
	head := p.b[:n:n]
	p.b = p.b[n:]
	return head
}

func (p *parser) uvarint() uint64 {
	n, w := binary.Uvarint(p.b)
	if p.bad = p.bad || w <= 0; p.bad {
		return 0
	}
	p.b = p.b[w:]
	return n
}

// behind reads a position that follows another one.
func (p *parser) behind(last layout.Position) layout.Position {
	head := p.uvarint()
	rest := p.take(p.uvarint())
	shared, bare := head>>1, head&1 != 0
	if shared > uint64(min(len(last), layout.PlaceSize)) || bare && shared+uint64(len(rest)) > layout.PlaceSize {
		p.bad = true
	}
	if p.bad {
		return nil
	}
	if shared == 0 && !bare {
		return rest
	}
	size := shared + uint64(len(rest))
	if bare {
		size = layout.PlaceSize
	}
	at := make(layout.Position, size)
	copy(at[copy(at, last[:shared]):], rest)
	return at
}

func (p *parser) sum() uint64 {
	if b := p.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}
