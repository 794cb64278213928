package replica

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/ring"
)

// A rawFrame is a frame of a feed as it travels, written without the feed's own code.
type rawFrame struct {
	kind    frame.Kind
	payload []byte
}

// rawFeedFrames are one frame of each kind, in the order of a session.
func rawFeedFrames() (all []rawFrame) {
	add := func(kind frame.Kind, change, high uint64, body []byte) {
		var b []byte
		for _, n := range []uint64{uint64(len(all) + 1), change, high} {
			b = binary.BigEndian.AppendUint64(b, n)
		}
		all = append(all, rawFrame{kind, append(b, body...)})
	}
	join := func(r ring.Range, lineage, epoch, version uint64, learner byte) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(r.Start))
		b = binary.BigEndian.AppendUint32(b, uint32(r.End))
		for _, n := range []uint64{lineage, epoch, version} {
			b = binary.AppendUvarint(b, n)
		}
		return append(b, learner)
	}
	first := join(ring.Range{Start: 1, End: 1 << 31}, 1, 300, 1<<40, 1)
	add(16, 2, 1, []byte("batch"))
	add(16, 3, 1, bytes.Repeat([]byte("long"), frame.LongBody))
	add(17, 3, 1, append(first, join(ring.Whole, 0, 1, 0, 0)...))
	add(18, 3, 1, join(ring.Range{Start: 1, End: 1 << 31}, 1, 300, 1<<40, 1))
	add(19, 3, 3, binary.AppendUvarint(nil, 1000))
	add(20, 1<<60, 3, []byte("{}"))
	add(16, 1<<60, 3, []byte("more"))
	return all
}

// A member takes what a stranger sends, however wrong, and ends.
func FuzzServeFeed(f *testing.F) {
	hello := []byte(`{"From":"n1","Incarnation":1,"To":2,"Session":1}`)
	good := frame.Append(nil, frame.Open, hello)
	f.Add(good)
	for _, f := range rawFeedFrames() {
		good = frame.Append(good, f.kind, f.payload)
	}
	f.Add(good)
	f.Add(frame.Append(nil, frame.Open, []byte(`{"From":"n1","To":3}`)))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, input []byte) {
		fakenet.Bubble(t, func(t *testing.T) {
			c := newTestCluster(t, rand.New(rand.NewPCG(1, 1)), 0)
			defer c.close()
			c.join("n2")
			time.Sleep(time.Second)
			here, there := net.Pipe()
			ended := make(chan struct{})
			go func() {
				_ = c.nodes["n2"].engine.ServeFeed(t.Context(), "n1", there)
				close(ended)
			}()
			go func() {
				buf := make([]byte, 1<<10)
				for {
					if _, err := here.Read(buf); err != nil {
						return
					}
				}
			}()
			_, _ = here.Write(input)
			time.Sleep(time.Second)
			_ = here.Close()
			<-ended
		})
	})
}
