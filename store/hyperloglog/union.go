package hyperloglog

// A Union is what is known of the union of sets: of each register the most. The zero Union is
// empty.
type Union struct {
	counts [Registers]uint8
	dense  bool // of one of the sketches
}

// Add adds a sketch.
func (u *Union) Add(s *Sketch) error {
	if !s.Dense() {
		return s.eachSparse(func(first, n int, count uint8) {
			for i := first; count > 0 && i < first+n; i++ {
				u.counts[i] = max(u.counts[i], count)
			}
		})
	}
	u.dense = true
	for i := range u.counts {
		u.counts[i] = max(u.counts[i], denseRegister(s.b[headerSize:], i))
	}
	return nil
}

// Estimate returns about how many distinct elements the sets have together.
func (u *Union) Estimate() uint64 {
	var h histogram
	for _, count := range u.counts {
		h[count]++
	}
	return h.estimate()
}

// Into adds what is known to a sketch, which becomes dense if one of those was that have been
// added, or if it would be longer than maxSparse bytes.
func (u *Union) Into(s *Sketch, maxSparse int) error {
	if u.dense {
		if err := s.MakeDense(); err != nil {
			return err
		}
	}
	for i, count := range u.counts {
		if count == 0 {
			continue
		}
		if _, err := s.raise(i, count, maxSparse); err != nil {
			return err
		}
	}
	s.Touch()
	return nil
}
