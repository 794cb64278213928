package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/ring"
)

const (
	lineagesFile   = "lineages.json"
	lineagesFormat = 1
	// firstLineage is that of every range of a cluster when it is founded.
	firstLineage = 1
)

// lineages records the lineage of the data in a directory. A recreated range has a new lineage;
// data of the earlier one is no data of the range any more.
type lineages struct {
	dir string

	mu    sync.Mutex
	steps []lineageStep // by From; the first begins at 0
}

// A lineageStep is the lineage from a token on, up to the next step.
type lineageStep struct {
	From    uint64 `json:"from"`
	Lineage uint64 `json:"lineage,string"`
}

type lineageText struct {
	Format int           `json:"format"`
	Steps  []lineageStep `json:"steps"`
}

func loadLineages(dir string) (*lineages, error) {
	l := &lineages{dir: dir, steps: []lineageStep{{0, firstLineage}}}
	path := filepath.Join(dir, lineagesFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	var t lineageText
	if err == nil {
		if err = durable.Unseal(text, &t); err != nil {
			err = readDamaged(path, err)
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read whose past the data are: %w", err)
	case t.Format != lineagesFormat || len(t.Steps) == 0 || t.Steps[0].From != 0 ||
		!slices.IsSortedFunc(t.Steps, func(a, b lineageStep) int { return int(min(max(int64(a.From)-int64(b.From), -1), 1)) }):
		return nil, fmt.Errorf("read whose past the data are: %w", readDamaged(path, errors.New("it cannot be understood")))
	}
	l.steps = t.Steps
	return l, nil
}

// circle is the number of tokens.
const circle = 1 << 32

// linearParts are a range as at most two that do not wrap, each to a token that is not in it.
func linearParts(r ring.Range) [][2]uint64 {
	from, to := uint64(r.Start), uint64(r.Start)+r.Len()
	if to <= circle {
		return [][2]uint64{{from, to}}
	}
	return [][2]uint64{{from, circle}, {0, to - circle}}
}

// lineageAt is the lineage of a token. The caller holds mu.
func (l *lineages) lineageAt(token uint64) uint64 {
	i, found := slices.BinarySearchFunc(l.steps, token, func(s lineageStep, token uint64) int {
		return int(min(max(int64(s.From)-int64(token), -1), 1))
	})
	if !found {
		i--
	}
	return l.steps[i].Lineage
}

// otherLineages are the parts of a range that are not of a lineage, none of which wraps, and what
// they are of.
func (l *lineages) otherLineages(r ring.Range, than uint64) (parts []ring.Range, of []uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range linearParts(r) {
		for at := s[0]; at < s[1]; {
			end, is := s[1], l.lineageAt(at)
			for _, step := range l.steps {
				if step.From > at {
					end = min(end, step.From)
					break
				}
			}
			if is != than {
				parts = append(parts, ring.Range{Start: ring.Token(at), End: ring.Token(end % circle)})
				of = append(of, is)
			}
			at = end
		}
	}
	return parts, of
}

// set makes it last that a range is of a lineage.
func (l *lineages) set(r ring.Range, lineage uint64) error {
	if parts, _ := l.otherLineages(r, lineage); len(parts) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.steps
	steps := was
	for _, s := range linearParts(r) {
		var next []lineageStep
		after := uint64(0)
		if s[1] < circle {
			l.steps = steps
			after = l.lineageAt(s[1])
		}
		for _, step := range steps {
			if step.From < s[0] {
				next = append(next, step)
			}
		}
		next = append(next, lineageStep{s[0], lineage})
		if s[1] < circle {
			next = append(next, lineageStep{s[1], after})
		}
		for _, step := range steps {
			if step.From > s[1] {
				next = append(next, step)
			}
		}
		steps = slices.CompactFunc(next, func(a, b lineageStep) bool { return a.Lineage == b.Lineage })
	}
	if err := saveJSON(l.dir, lineagesFile, lineageText{lineagesFormat, steps}); err != nil {
		l.steps = was // what is not durable must be recorded again
		return fmt.Errorf("note whose past the data are: %w", err)
	}
	l.steps = steps
	return nil
}
