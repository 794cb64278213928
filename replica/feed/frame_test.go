package feed

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"net"
	"reflect"
	"testing"

	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

func someFrames() []*feedFrame {
	rows := []joinRow{
		{table.Ref{Range: ring.Range{Start: 1, End: 1 << 31}, Lineage: 1, Epoch: 300, Version: 1 << 40}, true},
		{table.Ref{Range: ring.Whole, Epoch: 1}, false},
	}
	return []*feedFrame{
		{kind: kindBatch, seq: 1, change: 2, highWater: 1, body: []byte("batch")},
		{kind: kindBatch, seq: 2, change: 3, highWater: 1, body: bytes.Repeat([]byte("long"), frame.LongBody)},
		{kind: kindJoin, seq: 3, change: 3, highWater: 1, rows: rows},
		{kind: kindCatchUp, seq: 4, change: 3, highWater: 1, rows: rows[:1]},
		{kind: kindHeartbeat, seq: 5, change: 3, highWater: 3, pending: 1000},
		{kind: kindQuestion, seq: 6, change: 1 << 60, highWater: 3, body: []byte("{}")},
		{kind: kindBatch, seq: 7, change: 1 << 60, highWater: 3, body: []byte("more")},
	}
}

// Whatever was acknowledged and however often a connection breaks, what is written is
// what is left, from the place where it was asked for.
func TestBacklogResumesAtTheRequestedPlace(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		var b backlog
		var frames []*feedFrame
		at := backlogPosition{}
		acked, written := uint64(0), uint64(0)
		for range 200 {
			switch rnd.IntN(5) {
			case 0, 1:
				f := &feedFrame{kind: kindBatch, seq: uint64(len(frames) + 1), change: uint64(len(frames) + 1), body: make([]byte, rnd.IntN(2000))}
				if rnd.IntN(20) == 0 {
					f.body = make([]byte, frame.LongBody+rnd.IntN(frame.PartSize))
				}
				for i := range f.body {
					f.body[i] = byte(f.seq)
				}
				frames = append(frames, f)
				b.add(f)
			case 2, 3:
				limit := ^uint64(0)
				if rnd.IntN(3) == 0 && written < uint64(len(frames)) {
					limit = written + uint64(rnd.IntN(len(frames)-int(written)+1))
				}
				var out net.Buffers
				out, at = b.buffersFrom(at, limit)
				r := bufio.NewReader(bytes.NewReader(bytes.Join(out, nil)))
				for {
					kind, payload, _, err := frame.Read(r, nil)
					if err != nil {
						break
					}
					f, err := parseFrame(kind, payload)
					if err != nil {
						t.Fatal(err)
					}
					written++
					if !reflect.DeepEqual(f, frames[written-1]) && len(f.body)+len(frames[written-1].body) > 0 {
						t.Fatalf("frame %d of %d bytes in place of %d of %d", f.seq, len(f.body), written, len(frames[written-1].body))
					}
				}
				if written > limit || limit == ^uint64(0) && written != uint64(len(frames)) {
					t.Fatalf("%d written, of %d up to %d", written, len(frames), limit)
				}
			case 4:
				if written > acked {
					acked += 1 + uint64(rnd.IntN(int(written-acked)))
					b.dropAcked(acked)
				}
				if rnd.IntN(3) == 0 {
					at, written = b.positionAfter(acked), acked
				}
			}
		}
		b.dropAcked(uint64(len(frames)))
		if b.bytes != 0 || len(b.parts) != 0 {
			t.Fatalf("%d bytes are left", b.bytes)
		}
	}
}

func FuzzFeedFrame(f *testing.F) {
	for _, frame := range someFrames() {
		head := frame.head()
		f.Add(byte(frame.kind), append(head[:], frame.content()...))
	}
	f.Fuzz(func(t *testing.T, kind byte, payload []byte) {
		frame, err := parseFrame(frame.Kind(kind), payload)
		if err != nil {
			return
		}
		head := frame.head()
		again, err := parseFrame(frame.kind, append(head[:], frame.content()...))
		if err != nil || !reflect.DeepEqual(frame, again) {
			t.Errorf("%+v is read again as %+v, %v", frame, again, err)
		}
	})
}
