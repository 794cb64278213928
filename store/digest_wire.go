package store

import (
	"encoding/binary"
	"fmt"
)

// Digests travel as
//
//	version 1 B | From | End | groups, each: Start | count uvarint | sum 8 B LE |
//	1 B: detailed or not | if so: number of entries uvarint, each: position | sum 8 B LE
//
// with positions behind their lengths.
const digestVersion = 1

// Append appends the digests as they travel.
func (d *Digests) Append(dst []byte) []byte {
	dst = append(dst, digestVersion)
	dst = appendBytes(appendBytes(dst, d.From), d.End)
	for i := range d.Groups {
		g := &d.Groups[i]
		dst = appendBytes(dst, g.Start)
		dst = binary.AppendUvarint(dst, uint64(g.Count))
		dst = binary.LittleEndian.AppendUint64(dst, g.Sum)
		if !g.Detailed {
			dst = append(dst, 0)
			continue
		}
		dst = binary.AppendUvarint(append(dst, 1), uint64(len(g.Entries)))
		for _, e := range g.Entries {
			dst = appendBytes(dst, e.At)
			dst = binary.LittleEndian.AppendUint64(dst, e.Sum)
		}
	}
	return dst
}

// ParseDigests reads what Append writes. What it returns shares b's memory. Whether it
// fits a range, those who are given it check.
func ParseDigests(b []byte) (*Digests, error) {
	p := digestParser{b: b}
	if v := p.take(1); v == nil || v[0] != digestVersion {
		return nil, fmt.Errorf("%w: digests of another version", ErrBatch)
	}
	d := &Digests{From: p.bytes(), End: p.bytes()}
	for len(p.b) > 0 && !p.bad {
		g := Group{Start: p.bytes(), Count: int(p.uvarint() & 0xffffffff), Sum: p.sum()}
		detailed := p.take(1)
		if g.Detailed = detailed != nil && detailed[0] == 1; g.Detailed {
			for n := p.uvarint(); n > 0 && !p.bad; n-- {
				g.Entries = append(g.Entries, EntryDigest{p.bytes(), p.sum()})
			}
		}
		d.Groups = append(d.Groups, g)
	}
	if p.bad {
		return nil, fmt.Errorf("%w: digests are cut off", ErrBatch)
	}
	return d, nil
}

// A digestParser reads from b until something is bad.
type digestParser struct {
	b   []byte
	bad bool
}

func (p *digestParser) take(n int) []byte {
	if p.bad || len(p.b) < n {
		p.bad = true
		return nil
	}
	head := p.b[:n:n]
	p.b = p.b[n:]
	return head
}

func (p *digestParser) uvarint() uint64 {
	n, w := binary.Uvarint(p.b)
	if p.bad = p.bad || w <= 0; p.bad {
		return 0
	}
	p.b = p.b[w:]
	return n
}

func (p *digestParser) bytes() Position {
	head, rest, ok := cutBytes(p.b)
	if p.bad = p.bad || !ok; p.bad {
		return nil
	}
	p.b = rest
	return head
}

func (p *digestParser) sum() uint64 {
	if b := p.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}
