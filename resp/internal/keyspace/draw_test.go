package keyspace

import (
	"testing"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// fewServed are keys of which nearly all random ones are copies that are not served.
type fewServed struct{ keys []string }

func (f fewServed) RandomKeyIn(int, []ring.Range) ([]byte, error) { return []byte(f.keys[0]), nil }

func (f fewServed) ScanIn(_ ring.Range, _ store.Cursor, _ int, visit func(store.Entry) bool) (store.Cursor, bool, error) {
	for _, key := range f.keys {
		if !visit(store.Entry{Key: []byte(key)}) {
			break
		}
	}
	return store.CursorAt(0), true, nil
}

// TestDrawServedFindsOnlyServedKeys has stale copies that are drawn again and again: the key that is served is found,
// and none is if all are stale.
func TestDrawServedFindsOnlyServedKeys(t *testing.T) {
	spans := []ring.Range{ring.Whole}
	for _, test := range []struct{ served, want string }{{"c", "c"}, {"a", "a"}, {"", ""}} {
		key, err := DrawServed(fewServed{[]string{"a", "b", "c"}}, 0, spans, func(key []byte) bool { return string(key) == test.served })
		if err != nil || string(key) != test.want {
			t.Errorf("with %q served: %q, %v", test.served, key, err)
		}
	}
}
