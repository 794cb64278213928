package resp

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// placementChannel is the channel of the messages about the placement.
const placementChannel = "__placement__"

// watchers are the clients that are told of every change of the placement: HASHMASK
// SUBSCRIBE.
type watchers struct {
	n     atomic.Int32
	mu    sync.Mutex
	conns []*conn
}

func (w *watchers) add(c *conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.conns, c) && !c.closed.Load() {
		w.conns = append(w.conns, c)
		c.session.watching.Store(true)
		w.n.Store(int32(len(w.conns)))
	}
}

// remove reports whether the client was one of them.
func (w *watchers) remove(c *conn) bool {
	if w.n.Load() == 0 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.conns)
	w.conns = slices.DeleteFunc(w.conns, func(other *conn) bool { return other == c })
	c.session.watching.Store(false)
	w.n.Store(int32(len(w.conns)))
	return len(w.conns) < before
}

// tell pushes what is new in the later routes. It does not wait. Its caller sees to it
// that changes come in order.
func (w *watchers) tell(old, now *Routes) {
	if w.n.Load() == 0 {
		return
	}
	text := changesText(old, now)
	if text == "" {
		return
	}
	var messages [4][]byte // by protocol
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		proto := c.session.proto.Load() & 3
		if messages[proto] == nil {
			messages[proto] = placementMessage(proto == 3, text)
		}
		c.pushes.push(messages[proto])
	}
}

// placementMessage is a message of the channel, as Redis sends them.
func placementMessage(resp3 bool, text string) []byte {
	head := "*3\r\n"
	if resp3 {
		head = ">3\r\n"
	}
	b := append([]byte(head), "$7\r\nmessage\r\n"...)
	b = wire.AppendBulkString(b, placementChannel)
	return wire.AppendBulkString(b, text)
}

// changesText is a line for each range that is not as it was, in the form of RING
// PLACEMENT TEXT, though buckets go by their hashmask. It is empty if there is none.
func changesText(old, now *Routes) string {
	table, err := buckets.TableOf(now.Placement)
	isBuckets := err == nil
	var b strings.Builder
	for row := range now.Placement.Rows() {
		if old != nil && sameRow(old.Placement.Lookup(row.Range.Start), row) {
			continue
		}
		if isBuckets {
			b.WriteString(table.Lookup(row.Range.Start).Hashmask.String())
		} else {
			b.WriteString(row.Range.String())
		}
		fmt.Fprintf(&b, " epoch=%d", row.Epoch)
		if row.Primary != "" {
			b.WriteString(" primary=" + row.Primary)
		}
		if len(row.Backups) > 0 {
			b.WriteString(" backups=" + strings.Join(row.Backups, ","))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// sameRow compares what clients are told.
func sameRow(a, b *ring.Row) bool {
	return a.Range == b.Range && a.Epoch == b.Epoch && a.Primary == b.Primary && slices.Equal(a.Backups, b.Backups)
}
