package hyperloglog

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Registers is how many a sketch has.
const Registers = 1 << indexBits

const (
	magic       = "HYLL"
	headerSize  = 16
	formAt      = 4 // the form's byte; three bytes that mean nothing follow
	estimateAt  = 8 // 8 bytes, little-endian; the highest bit says that they are out of date
	outOfDate   = 0x80
	registerLen = 6 // bits of a register in the dense form
	denseSize   = headerSize + Registers*registerLen/8
)

// The forms of a sketch.
const (
	formDense  = 0
	formSparse = 1
)

// MaxSize is how long a sketch can be, in bytes: a sparse one has no more than two bytes for
// each register.
const MaxSize = headerSize + 2*Registers

var (
	// ErrNone is returned for what is no sketch.
	ErrNone = errors.New("read sketch: not a sketch")
	// ErrCorrupt is returned for a sketch whose parts do not make up all registers.
	ErrCorrupt = errors.New("read sketch: corrupt")
)

// A Sketch is what is known of a set: for each register the longest run of zeros in the hash
// of any element that falls to it.
type Sketch struct{ b []byte }

// New returns the sketch of an empty set.
func New() Sketch {
	s := Sketch{make([]byte, headerSize, 2*headerSize)}
	copy(s.b, magic)
	s.b[formAt] = formSparse
	s.b = appendZeros(s.b, Registers)
	return s
}

// Parse returns the sketch that b, which it keeps, is. size is how long the sketch is in
// truth: b may be its beginning only, of at least 16 bytes, to learn whether it is one.
func Parse(b []byte, size int64) (Sketch, error) {
	switch {
	case len(b) < headerSize || string(b[:len(magic)]) != magic || b[formAt] > formSparse,
		b[formAt] == formDense && size != denseSize:
		return Sketch{}, ErrNone
	case size > MaxSize:
		return Sketch{}, ErrCorrupt
	}
	return Sketch{b}, nil
}

// Bytes returns the sketch as Redis keeps it; valid until the sketch is changed.
func (s *Sketch) Bytes() []byte { return s.b }

// Clone returns a sketch that can be changed without changing s.
func (s *Sketch) Clone() Sketch {
	return Sketch{append(make([]byte, 0, len(s.b)+len(s.b)/4+headerSize), s.b...)}
}

// Dense reports whether each register has its bits.
func (s *Sketch) Dense() bool { return s.b[formAt] == formDense }

// Add adds an element. It reports whether that changed the sketch. One that would be longer
// than maxSparse bytes becomes dense.
func (s *Sketch) Add(element []byte, maxSparse int) (bool, error) {
	register, count := place(element)
	return s.raise(register, count, maxSparse)
}

// raise sees to it that a register holds at least count.
func (s *Sketch) raise(register int, count uint8, maxSparse int) (bool, error) {
	if s.Dense() {
		registers := s.b[headerSize:]
		if denseRegister(registers, register) >= count {
			return false, nil
		}
		setDenseRegister(registers, register, count)
		return true, nil
	}
	return s.raiseSparse(register, count, maxSparse)
}

// Touch notes that the sketch has changed, so that what it says of its estimate is out of
// date.
func (s *Sketch) Touch() { s.b[estimateAt+7] |= outOfDate }

// MakeDense gives the sketch its dense form.
func (s *Sketch) MakeDense() error {
	if s.Dense() {
		return nil
	}
	dense := make([]byte, denseSize)
	copy(dense, s.b[:headerSize])
	dense[formAt] = formDense
	err := s.eachSparse(func(first, n int, count uint8) {
		for i := first; count > 0 && i < first+n; i++ {
			setDenseRegister(dense[headerSize:], i, count)
		}
	})
	if err == nil {
		s.b = dense
	}
	return err
}

// Estimate returns about how many distinct elements were added.
func (s *Sketch) Estimate() (uint64, error) {
	if s.b[estimateAt+7]&outOfDate == 0 {
		return binary.LittleEndian.Uint64(s.b[estimateAt:]), nil
	}
	var h histogram
	if s.Dense() {
		for i := range Registers {
			h[denseRegister(s.b[headerSize:], i)]++
		}
		return h.estimate(), nil
	}
	err := s.eachSparse(func(_, n int, count uint8) { h[count] += n })
	return h.estimate(), err
}

// Counts returns what each register holds.
func (s *Sketch) Counts() ([]uint8, error) {
	var u Union
	if err := u.Add(s); err != nil {
		return nil, err
	}
	return u.counts[:], nil
}

// Parts shows the parts of a sparse sketch: z:n and Z:n are n registers that hold nothing,
// in one byte or two, v:c,n are n that hold c.
func (s *Sketch) Parts() string {
	var text []byte
	for b := s.b[headerSize:]; len(b) > 0; {
		p := partOf(b)
		switch {
		case p.count > 0:
			text = fmt.Appendf(text, "v:%d,%d ", p.count, p.n)
		case p.size == 2:
			text = fmt.Appendf(text, "Z:%d ", p.n)
		default:
			text = fmt.Appendf(text, "z:%d ", p.n)
		}
		b = b[min(p.size, len(b)):]
	}
	return string(text[:max(len(text)-1, 0)])
}

// denseRegister reads a register; the lowest bits of a byte come first.
func denseRegister(registers []byte, i int) uint8 {
	at, shift := i*registerLen/8, i*registerLen%8
	v := uint16(registers[at])
	if at+1 < len(registers) {
		v |= uint16(registers[at+1]) << 8
	}
	return uint8(v>>shift) & (1<<registerLen - 1)
}

func setDenseRegister(registers []byte, i int, count uint8) {
	const mask = 1<<registerLen - 1
	at, shift := i*registerLen/8, i*registerLen%8
	registers[at] = registers[at]&^byte(mask<<shift) | count<<shift
	if shift > 8-registerLen {
		registers[at+1] = registers[at+1]&^byte(mask>>(8-shift)) | count>>(8-shift)
	}
}
