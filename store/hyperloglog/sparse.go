package hyperloglog

import "slices"

// The sparse form is parts that make up all registers, one after the other:
//
//	00nnnnnn            n+1 registers that hold nothing
//	01nnnnnn nnnnnnnn   the same, with more of them
//	1cccccnn            n+1 registers that hold c+1
const (
	maxShortZeros = 64
	maxCounted    = 4  // registers of a part that hold something
	maxSparse     = 32 // is the most that they can hold
)

// A part is n registers that hold count each, in size bytes.
type part struct {
	n     int
	count uint8
	size  int
}

// partOf reads the part that b begins with. A second byte that is missing is taken as zero;
// whoever goes on must not count on size bytes.
func partOf(b []byte) part {
	switch c := b[0]; {
	case c&0x80 != 0:
		return part{int(c&3) + 1, c>>2&0x1f + 1, 1}
	case c&0x40 == 0:
		return part{int(c) + 1, 0, 1}
	case len(b) > 1:
		return part{int(c&0x3f)<<8 + int(b[1]) + 1, 0, 2}
	default:
		return part{int(c&0x3f)<<8 + 1, 0, 2}
	}
}

func appendZeros(b []byte, n int) []byte {
	if n > maxShortZeros {
		return append(b, 0x40|byte((n-1)>>8), byte(n-1))
	}
	return append(b, byte(n-1))
}

func appendCounted(b []byte, count uint8, n int) []byte {
	return append(b, 0x80|(count-1)<<2|byte(n-1))
}

// appendPart appends n registers that hold count, if there are any; no more of those that
// hold something than one part can have.
func appendPart(b []byte, count uint8, n int) []byte {
	switch {
	case n == 0:
		return b
	case count == 0:
		return appendZeros(b, n)
	}
	return appendCounted(b, count, n)
}

// eachSparse calls do for the parts, with the first register of each.
func (s *Sketch) eachSparse(do func(first, n int, count uint8)) error {
	first := 0
	for b := s.b[headerSize:]; len(b) > 0; {
		p := partOf(b)
		if first+p.n > Registers {
			return ErrCorrupt
		}
		do(first, p.n, p.count)
		first += p.n
		b = b[min(p.size, len(b)):]
	}
	if first != Registers {
		return ErrCorrupt
	}
	return nil
}

// raiseSparse is raise in the sparse form. The parts become those that Redis makes of them,
// which are not always the fewest.
func (s *Sketch) raiseSparse(register int, count uint8, longest int) (bool, error) {
	if count > maxSparse {
		return s.raiseDense(register, count)
	}
	at, before, first := headerSize, headerSize, 0
	var p part
	for {
		if at >= len(s.b) {
			return false, ErrCorrupt
		}
		p = partOf(s.b[at:])
		if at+p.size > len(s.b) {
			return false, ErrCorrupt
		}
		if register < first+p.n {
			break
		}
		before, first, at = at, first+p.n, at+p.size
	}
	if p.count >= count {
		return false, nil
	}
	var buf [5]byte
	parts := appendPart(buf[:0], p.count, register-first)
	parts = appendCounted(parts, count, 1)
	parts = appendPart(parts, p.count, first+p.n-1-register)
	if len(parts) > p.size && len(s.b)+len(parts)-p.size > longest {
		return s.raiseDense(register, count)
	}
	s.b = slices.Replace(s.b, at, at+p.size, parts...)
	s.join(before)
	s.Touch()
	return true, nil
}

func (s *Sketch) raiseDense(register int, count uint8) (bool, error) {
	if err := s.MakeDense(); err != nil {
		return false, err
	}
	return s.raise(register, count, 0)
}

// join makes one of neighbouring parts that hold the same, among the few from a part on that
// a change can have made neighbours.
func (s *Sketch) join(at int) {
	for looks := 5; looks > 0 && at < len(s.b); looks-- {
		p := partOf(s.b[at:])
		if p.count > 0 && at+1 < len(s.b) {
			if next := partOf(s.b[at+1:]); next.count == p.count && p.n+next.n <= maxCounted {
				s.b = slices.Replace(s.b, at, at+2, appendCounted(nil, p.count, p.n+next.n)...)
				continue
			}
		}
		at += p.size
	}
}
