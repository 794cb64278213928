package relay

import (
	"fmt"
	"testing"
)

// heard returns the first number and the keys that a node hears next.
func heard(t *testing.T, q *InvalidationQueue) (first uint64, keys []string) {
	t.Helper()
	first, items, err := ParseInvalidations(q.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if item.Key == nil {
			keys = append(keys, "all")
		} else {
			keys = append(keys, string(item.Key))
		}
	}
	return first, keys
}

func TestInvalidationQueueNumbersWhatIsHeard(t *testing.T) {
	var q InvalidationQueue
	want := func(number uint64, keys ...string) {
		t.Helper()
		if first, got := heard(t, &q); first != number || fmt.Sprint(got) != fmt.Sprint(keys) {
			t.Errorf("%d %v, not %d %v", first, got, number, keys)
		}
	}
	want(1)
	q.Add(0, []byte("a"))
	q.Add(0, []byte("b"))
	want(1, "a", "b")
	q.Heard(1)
	want(2, "b")
	q.Add(0, []byte("c"))
	q.Heard(0)
	want(2, "b", "c")
	q.AddAll()
	want(4, "all")
	q.Heard(3)
	want(4, "all")
	q.Add(0, []byte("d"))
	want(4, "all", "d")
	q.Heard(5)
	want(6)
	if q.Last() != 5 || q.Len() != 0 || q.bytes != 0 {
		t.Errorf("%+v", q)
	}
}

// A node that does not ask for long has at last to hear that all keys may have changed.
func TestInvalidationQueueIsBounded(t *testing.T) {
	var q InvalidationQueue
	for i := range maxQueued/keyCost + 1 {
		q.Add(0, fmt.Appendf(nil, "%d", i))
		if q.bytes > maxQueued {
			t.Fatalf("%d bytes wait", q.bytes)
		}
	}
	if q.Len() > maxQueued/keyCost/2 || q.items[0].Key != nil {
		t.Errorf("%d keys wait, first %q", q.Len(), q.items[0].Key)
	}
	if size := len(q.Append(nil)); size > 2*maxAnswer {
		t.Errorf("an answer of %d bytes", size)
	}
}
