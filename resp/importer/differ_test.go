package importer

import (
	"testing"

	"github.com/ringside-kv/ringside/store/rdb"
)

// TestStreamsOfOldServersAreCompared compares a stream as Redis before 7.0 dumps it with one of later servers, which say
// more of it.
func TestStreamsOfOldServersAreCompared(t *testing.T) {
	dump := func(version int, value string, last, added uint64) sideValue {
		w := rdb.NewStreamWriter(nil, version, false)
		if err := w.Entry(rdb.StreamID{Ms: 1}, 2, func(yield func([]byte)) error { yield([]byte("f")); yield([]byte(value)); return nil }); err != nil {
			t.Fatal(err)
		}
		w.Head(rdb.StreamHead{Length: 1, Last: rdb.StreamID{Ms: 7}, First: rdb.StreamID{Ms: 1}, MaxDeleted: rdb.StreamID{Ms: 7}, Added: added}, 1)
		w.Group(rdb.StreamGroup{Name: []byte("g"), Last: rdb.StreamID{Ms: last}, Read: int64(added) - 1}, 0)
		w.Consumers(0)
		return sideValue{payload: rdb.SealAs(w.Bytes(), 0, version)}
	}
	for _, test := range []struct {
		a, b sideValue
		same bool
	}{
		{dump(9, "v", 3, 2), dump(11, "v", 3, 2), true}, {dump(11, "v", 3, 2), dump(9, "v", 3, 2), true},
		{dump(9, "v", 3, 2), dump(11, "v", 3, 5), true}, {dump(11, "v", 3, 2), dump(11, "v", 3, 5), false},
		{dump(9, "v", 3, 2), dump(11, "w", 3, 2), false}, {dump(9, "v", 3, 2), dump(11, "v", 4, 2), false},
		{dump(9, "v", 3, 2), dump(9, "v", 3, 2), true}, {dump(9, "v", 3, 2), dump(9, "v", 4, 2), false},
	} {
		if got := differ(test.a, test.b, true); (got == "") != test.same {
			t.Errorf("%q and %q: %q", test.a.payload, test.b.payload, got)
		}
	}
}
