package lua

import (
	"math"
	"slices"
	"strings"
)

// A sorter sorts with the steps of the C library (R. Sedgewick, Algorithms, quicksort with the
// median of three): scripts see which values it compares, and what becomes of a list whose
// order is none.
type sorter struct {
	t       *Thread
	list    *Table
	compare Value // or nil
	steps   int
}

func tableSort(t *Thread) int {
	s := sorter{t: t, list: t.CheckTable(1), compare: t.Arg(2)}
	n := s.list.Len()
	if !s.compare.IsNil() {
		t.CheckFunction(2)
	} else if t.sortAlike(s.list, n) {
		return 0
	}
	s.sort(1, n)
	return 0
}

// Lists up to these sizes are sorted in one step, which takes some milliseconds.
const (
	sortedNumbers = 1 << 16
	sortedTexts   = 1 << 13
	sortedBytes   = 1 << 20 // of all texts
)

// sortAlike sorts numbers, or texts, by Go's algorithm, and reports whether it has. Only one order
// of them is possible, so nothing shows which values were compared. That is not so of 0 and -0,
// which are equal, nor of NaN.
func (t *Thread) sortAlike(list *Table, n int) bool {
	if n > sortedNumbers || n > len(list.array) || n == 0 || list.readonly {
		return false
	}
	values := list.array[:n]
	if values[0].IsString() {
		if n > sortedTexts {
			return false
		}
		size := 0
		for _, v := range values {
			if !v.IsString() {
				return false
			}
			size += len(v.Text())
		}
		if size > sortedBytes {
			return false
		}
		slices.SortFunc(values, func(a, b Value) int { return strings.Compare(a.Text(), b.Text()) })
		return true
	}
	t.Hold(8 * n)
	numbers := make([]float64, n)
	for i, v := range values {
		f := v.Float()
		if !v.IsNumber() || f != f || f == 0 && math.Signbit(f) {
			return false
		}
		numbers[i] = f
	}
	slices.Sort(numbers)
	for i, f := range numbers {
		values[i].setNumber(f)
	}
	return true
}

func (s *sorter) less(a, b Value) bool {
	if s.steps++; s.steps%64 == 0 {
		s.t.Step(256)
	}
	if s.compare.IsNil() {
		return s.t.Less(a, b)
	}
	t, slot := s.t, s.t.top
	t.need(slot + 3)
	t.stack[slot], t.stack[slot+1], t.stack[slot+2] = s.compare, a, b
	t.top = slot + 3
	t.callWithin(slot, 2, 1)
	t.top = slot
	return t.stack[slot].Truth()
}

// put stores two elements.
func (s *sorter) put(i int, a Value, j int, b Value) {
	s.t.SetInt(s.list, i, a)
	s.t.SetInt(s.list, j, b)
}

// order swaps two elements if the second is less than the first.
func (s *sorter) order(i int, a Value, j int, b Value) {
	if s.less(b, a) {
		s.put(i, b, j, a)
	}
}

func (s *sorter) sort(low, high int) {
	for low < high {
		s.order(low, s.list.GetInt(low), high, s.list.GetInt(high))
		if high-low == 1 {
			return
		}
		i := (low + high) / 2
		if a, b := s.list.GetInt(i), s.list.GetInt(low); s.less(a, b) {
			s.put(i, b, low, a)
		} else {
			s.order(i, a, high, s.list.GetInt(high))
		}
		if high-low == 2 {
			return
		}
		pivot := s.list.GetInt(i)
		s.put(i, s.list.GetInt(high-1), high-1, pivot)
		i = s.partition(low, high, pivot)
		s.put(high-1, s.list.GetInt(i), i, s.list.GetInt(high-1))
		// The smaller part is sorted by a call, so that calls do not get deep.
		if i-low < high-i {
			s.sort(low, i-1)
			low = i + 1
		} else {
			s.sort(i+1, high)
			high = i - 1
		}
	}
}

// partition moves what is less than the pivot, which is at high-1, before the rest, and returns
// where that begins.
func (s *sorter) partition(low, high int, pivot Value) int {
	i, j := low, high-1
	for {
		var a, b Value
		for i++; ; i++ {
			if a = s.list.GetInt(i); !s.less(a, pivot) {
				break
			}
			s.check(i <= high)
		}
		for j--; ; j-- {
			if b = s.list.GetInt(j); !s.less(pivot, b) {
				break
			}
			s.check(j >= low)
		}
		if j < i {
			return i
		}
		s.put(i, b, j, a)
	}
}

func (s *sorter) check(ok bool) {
	if !ok {
		s.t.Errorf("invalid order function for sorting")
	}
}
