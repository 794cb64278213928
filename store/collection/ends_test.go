package collection

import (
	"errors"
	"fmt"
	"math/rand/v2"
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
	oneGoroutine(t)
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
				if err := errors.Join(l.Open(u, []byte("l")), l.Push(front, fmt.Append(nil, i))); err != nil {
					t.Fatal(err)
				}
			}
		}, "l")
		for round := range int64(50) {
			in(t, s, func(u *store.Unit) {
				err := errors.Join(l.Open(u, []byte("l")), l.Push(front, []byte("a")), l.Push(front, []byte("b")))
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

func TestStreamEndsPassFewRemovedEntries(t *testing.T) {
	oneGoroutine(t)
	id := func(i int) ID { return ID{uint64(i), 0} }
	fields := [][]byte{[]byte("f"), []byte("v")}
	for name, step := range map[string]func(s *Stream, round int) (int64, error){
		"delete the last":  func(s *Stream, round int) (int64, error) { return s.Delete([]ID{id(round)}) },
		"delete the first": func(s *Stream, round int) (int64, error) { return s.Delete([]ID{id(round - 40)}) },
		"trim":             func(s *Stream, round int) (int64, error) { return s.Trim(Trim{MaxLen: 40}) },
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, vfs.NewMem())
			worst := 0
			for round := 1; round < 600; round++ {
				in(t, db, func(u *store.Unit) {
					var s Stream
					if err := errors.Join(s.Open(u, []byte("s")), s.Add(id(round), fields)); err != nil {
						t.Fatal(err)
					}
					if round > 40 {
						if n, err := step(&s, round); n != 1 || err != nil {
							t.Fatal(n, err)
						}
					}
				}, "s")
				if round <= 40 {
					continue
				}
				in(t, db, func(u *store.Unit) {
					var s Stream
					if err := s.Open(u, []byte("s")); err != nil {
						t.Fatal(err)
					}
					for _, back := range []bool{false, true} {
						worst = max(worst, passedToFirst(t, s.entries(ID{}, MaxID, back)))
					}
				}, "s")
			}
			if worst > maxPassed {
				t.Errorf("an iterator passed %d entries of the engine, want at most %d", worst, maxPassed)
			}
		})
	}
}

func TestPendingEndsPassFewAcknowledgedEntries(t *testing.T) {
	oneGoroutine(t)
	const kept = 40
	for name, acknowledged := range map[string]func(round int) int{
		"the oldest": func(round int) int { return round - kept },
		"the newest": func(round int) int { return round },
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, vfs.NewMem())
			worst := 0
			for round := 1; round < 600; round++ {
				in(t, db, func(u *store.Unit) {
					var s Stream
					if err := errors.Join(s.Open(u, []byte("s")), s.Create()); err != nil {
						t.Fatal(err)
					}
					g, err := s.Group([]byte("g"))
					if err == nil && g == nil {
						g = s.CreateGroup([]byte("g"), ID{}, 0)
					}
					if err == nil {
						_, err = g.Serve([]byte("c"), 1)
					}
					if err == nil {
						err = g.Put(&Pending{ID: ID{uint64(round), 0}, Consumer: []byte("c")}, nil)
					}
					if err == nil && round > kept {
						var p *Pending
						if p, err = g.Find(ID{uint64(acknowledged(round)), 0}); err == nil {
							err = g.Remove(p)
						}
					}
					if err != nil {
						t.Fatal(err)
					}
					g.Save()
					if g.Pending != int64(min(round, kept)) {
						t.Fatalf("%d are pending", g.Pending)
					}
				}, "s")
				in(t, db, func(u *store.Unit) {
					var s Stream
					if err := s.Open(u, []byte("s")); err != nil {
						t.Fatal(err)
					}
					g, err := s.Group([]byte("g"))
					if err != nil {
						t.Fatal(err)
					}
					for _, back := range []bool{false, true} {
						worst = max(worst, passedToFirst(t, g.pendings(g.floor, g.ceiling, back)))
					}
				}, "s")
			}
			if worst > maxPassed {
				t.Errorf("an iterator passed %d entries of the engine, want at most %d", worst, maxPassed)
			}
		})
	}
}

func TestConsumersAreReadWithoutTheirFormerValues(t *testing.T) {
	db := open(t, vfs.NewMem())
	for round := range 300 {
		in(t, db, func(u *store.Unit) {
			var s Stream
			if err := errors.Join(s.Open(u, []byte("s")), s.Create()); err != nil {
				t.Fatal(err)
			}
			g, err := s.Group([]byte("g"))
			if err == nil && g == nil {
				g = s.CreateGroup([]byte("g"), ID{}, 0)
			}
			for _, name := range []string{"a", "b", "c"} {
				if err == nil {
					_, err = g.Serve([]byte(name), int64(round))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			g.Save()
		}, "s")
	}
	in(t, db, func(u *store.Unit) {
		var s Stream
		if err := s.Open(u, []byte("s")); err != nil {
			t.Fatal(err)
		}
		g, err := s.Group([]byte("g"))
		if err != nil {
			t.Fatal(err)
		}
		it := u.Elements(s.key, &s.v, g.consumerKey(nil), []byte{kindConsumer + 1}, false)
		found := 0
		for nextChanging(it) {
			found++
		}
		passed := it.Passed()
		if err := it.Close(); err != nil || found != 3 || passed > 100 {
			t.Errorf("%d consumers, %d entries of the engine passed, %v", found, passed, err)
		}
		if all, err := g.AllConsumers(); err != nil || len(all) != 3 || all[2].Seen != 299 {
			t.Errorf("%v, %v", all, err)
		}
	}, "s")
}

// In a queue with priorities each member that is added lies before those that were popped. Members
// that were left in the order of scores would have to go with a deletion of a range each time.
func TestPopsLeaveNothingWhereNewMembersComeFirst(t *testing.T) {
	oneGoroutine(t)
	s := open(t, vfs.NewMem())
	rnd := rand.New(rand.NewPCG(3, 0))
	var z ZSet
	z.Limit(1)
	swept := 0
	for round := range 400 {
		in(t, s, func(u *store.Unit) {
			err := z.Open(u, []byte("z"))
			for i := 0; err == nil && round == 0 && i < 50; i++ {
				err = z.Set(fmt.Appendf(nil, "waits%d", i), 5)
			}
			for i := 0; err == nil && i < 3; i++ {
				err = z.Set(fmt.Appendf(nil, "%016x", rnd.Uint64()), 1)
			}
			if err = errors.Join(err, z.Flush()); err != nil {
				t.Fatal(err)
			}
		}, "z")
		in(t, s, func(u *store.Unit) {
			for range 3 {
				if err := errors.Join(z.Open(u, []byte("z")), z.Pop(1, false, func([]byte, float64) {}), z.Flush()); err != nil {
					t.Fatal(err)
				}
			}
			if z.left > 0 {
				swept++
			}
		}, "z")
	}
	if z.Len() != 50 || swept > 20 {
		t.Errorf("%d members, after %d of 400 rounds some were left in the order of scores", z.Len(), swept)
	}
}

// passedToFirst returns how many entries of the engine an iterator passes to its first element,
// and closes it.
func passedToFirst(t *testing.T, it *store.Elements) int {
	t.Helper()
	if !it.Next() {
		t.Fatal("the iterator finds no element")
	}
	passed := it.Passed()
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return passed
}
