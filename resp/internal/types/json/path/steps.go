package path

import "github.com/ringside-kv/ringside/resp/internal/types/json/document"

const (
	// stepsPerValue and freeSteps bound how many values a query looks at: so many for each value of the document, and
	// so many more.
	stepsPerValue = 16
	freeSteps     = 1 << 20
	// maxShares is how many times as many all queries of one command may look at.
	maxShares = 16
)

// Steps bounds how many values the queries of one command look at in one document. One goroutine uses it.
type Steps struct {
	root    *document.Value
	left    int64
	shares  int64
	counted bool // left has the share of the document: its values are counted when they matter
	err     error
}

// NewSteps returns the steps of so many queries on a document.
func NewSteps(root *document.Value, queries int) *Steps {
	shares := int64(max(1, min(queries, maxShares)))
	return &Steps{root: root, left: freeSteps * shares, shares: shares}
}

// Take counts steps, and reports whether they may be made.
func (s *Steps) Take(n int64) bool {
	if s.left -= n; s.left < 0 && !s.counted {
		s.counted = true
		s.left += stepsPerValue * s.shares * s.root.Count()
	}
	if s.left < 0 {
		s.err = ErrSteps
	}
	return s.err == nil
}

// Err returns [ErrSteps] once steps were refused.
func (s *Steps) Err() error { return s.err }
