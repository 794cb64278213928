package tuning

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/background"
)

// yielding is a filter policy whose writers let requests go first. Pebble adds each key of a table that it writes to
// the table's filter, in flushes and compactions; it has no other place where a flush could be told to yield.
type yielding struct{ pebble.FilterPolicy }

// NewWriter implements pebble.FilterPolicy.
func (y yielding) NewWriter(kind pebble.FilterType) pebble.FilterWriter {
	return &yieldingWriter{FilterWriter: y.FilterPolicy.NewWriter(kind)}
}

type yieldingWriter struct {
	pebble.FilterWriter
	pace background.Pacer
}

// AddKey implements pebble.FilterWriter.
func (w *yieldingWriter) AddKey(key []byte) {
	w.pace.Step()
	w.FilterWriter.AddKey(key)
}
