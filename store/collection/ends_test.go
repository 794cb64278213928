package collection

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store"
)

// maxPassed is how many removed entries an iterator may pass on the way to the first element, or
// the last one, however many were removed.
const maxPassed = 500

// A window is a sorted set of members with scores that follow each other, from first to last.
type window struct {
	t           *testing.T
	z           *ZSet
	first, last int
	format      string
}

func (w *window) member(i int) []byte { return fmt.Appendf(nil, w.format, i) }

func (w *window) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *window) addLast() {
	w.last++
	w.check(w.z.Set(w.member(w.last), float64(w.last)))
}

func (w *window) addFirst() {
	w.first--
	w.check(w.z.Set(w.member(w.first), float64(w.first)))
}

func (w *window) removeRange(from, to []byte) {
	n, err := w.z.RemoveRange(from, to)
	w.check(err)
	if n != 1 {
		w.t.Fatalf("%d members removed, want 1", n)
	}
}

func (w *window) delete(i int) {
	ok, err := w.z.Delete(w.member(i))
	w.check(err)
	if !ok {
		w.t.Fatalf("no member %d", i)
	}
}

// pop removes one member from an end. Only the second of two pops reads ahead, so that members
// that were popped stay in the order of scores.
func (w *window) pop(back bool) {
	w.check(w.z.Pop(1, back, func([]byte, float64) {}))
}

func TestSortedSetEndsPassFewRemovedMembers(t *testing.T) {
	forward := func(remove func(w *window)) func(w *window) {
		return func(w *window) {
			w.addLast()
			remove(w)
			w.first++
		}
	}
	backward := func(remove func(w *window)) func(w *window) {
		return func(w *window) {
			w.addFirst()
			remove(w)
			w.last--
		}
	}
	score := func(i int) []byte { return RankKey(nil, float64(i), nil) }
	for name, step := range map[string]func(w *window){
		"range from a score":   forward(func(w *window) { w.removeRange(score(-1e6), score(w.first+1)) }),
		"range from the first": forward(func(w *window) { w.removeRange(score(w.first), score(w.first+1)) }),
		"range from nowhere":   forward(func(w *window) { w.removeRange(nil, score(w.first+1)) }),
		"delete the first":     forward(func(w *window) { w.delete(w.first) }),
		"pop the first":        forward(func(w *window) { w.pop(false) }),
		"range up to a score":  backward(func(w *window) { w.removeRange(score(w.last), score(1e6)) }),
		"range to the last":    backward(func(w *window) { w.removeRange(score(w.last), RankKeyBehind(nil, float64(w.last))) }),
		"range to nowhere":     backward(func(w *window) { w.removeRange(score(w.last), nil) }),
		"delete the last":      backward(func(w *window) { w.delete(w.last) }),
		"pop the last":         backward(func(w *window) { w.pop(true) }),
		"first becomes last": func(w *window) {
			w.last++
			w.check(w.z.Set(w.member(w.first), float64(w.last)))
			w.delete(w.first)
			w.check(w.z.Set(w.member(w.last), float64(w.last)))
			w.first++
		},
		"pop first, delete last": func(w *window) {
			w.addLast()
			w.addLast()
			w.check(w.z.Flush())
			w.pop(false)
			w.pop(false)
			w.check(w.z.Flush())
			w.delete(w.last)
			w.first, w.last = w.first+2, w.last-1
			w.addLast()
		},
	} {
		for _, format := range []string{"%d", "%0150d"} {
			t.Run(name+" "+format, func(t *testing.T) {
				s := open(t, vfs.NewMem())
				w := &window{t: t, format: format}
				worst := 0
				for round := range 600 {
					in(t, s, func(u *store.Unit) {
						w.z = new(ZSet)
						w.z.Limit(1)
						w.check(w.z.Open(u, []byte("z")))
						if round == 0 {
							for range 40 {
								w.addLast()
							}
							w.first = 1
						} else {
							step(w)
						}
						w.check(w.z.Flush())
					}, "z")
					in(t, s, func(u *store.Unit) {
						w.check(w.z.Open(u, []byte("z")))
						if w.z.Len() != int64(w.last-w.first+1) {
							t.Fatalf("%d members, want %d to %d", w.z.Len(), w.first, w.last)
						}
						for back, want := range map[bool]int{false: w.first, true: w.last} {
							key, passed, err := w.z.edge(back)
							w.check(err)
							if _, member := splitRankKey(key); string(member) != string(w.member(want)) {
								t.Fatalf("round %d: member at the end is %q, want %d", round, member, want)
							}
							worst = max(worst, passed)
						}
					}, "z")
				}
				if worst > maxPassed {
					t.Errorf("an iterator passed %d entries of the engine, want at most %d", worst, maxPassed)
				}
			})
		}
	}
}

// A deletion of a range for each LTRIM would have Pebble make the fragments of all of them anew
// for each read.
func TestTrimLeavesFewElementsInPlace(t *testing.T) {
	for _, front := range []bool{false, true} {
		s := open(t, vfs.NewMem())
		var l List
		l.MaxPacked = 1
		in(t, s, func(u *store.Unit) {
			for i := range 20 {
				if err := errors.Join(l.Open(u, []byte("l")), l.Push(fmt.Append(nil, i), front)); err != nil {
					t.Fatal(err)
				}
			}
		}, "l")
		for round := range int64(50) {
			in(t, s, func(u *store.Unit) {
				err := errors.Join(l.Open(u, []byte("l")), l.Push([]byte("a"), front), l.Push([]byte("b"), front))
				if front {
					err = errors.Join(err, l.Trim(0, 19))
				} else {
					err = errors.Join(err, l.Trim(2, 21))
				}
				before, behind := int64(0), 2*(round+1)
				if !front { // they were pushed at the back and cut off at the front
					before, behind = behind, before
				}
				if err != nil || l.Len() != 20 || l.before != before || l.behind != behind {
					t.Fatalf("%d elements, %d are left before and %d behind, %v, want %d and %d", l.Len(), l.before, l.behind, err, before, behind)
				}
			}, "l")
		}
	}
}
