package feed

import (
	"encoding/binary"
	"fmt"

	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A frame of a feed has the head of a stream's frame, and then, from the primary, its
// number in the session, the number of the newest change that its receiver needs, and
// the high-water mark (8 bytes each, big endian), and its body. The first frame of a
// connection, frameOpen, is a greeting in JSON, and answered by frameReady with the
// number of the last frame that is there; a member acknowledges by frameAck.

const (
	kindBatch     frame.Kind = 16 // a batch of the store
	kindJoin      frame.Kind = 17 // rows that are followed from here on
	kindCatchUp   frame.Kind = 18 // rows whose changes follow until they are joined
	kindHeartbeat frame.Kind = 19 // how many changes are not acknowledged (uvarint)
	kindQuestion  frame.Kind = 20 // what is known of other primaries' rows, in JSON
	// From the member, to feedAsk: its number (8), what is known (JSON).
	kindAnswer frame.Kind = 21
)

// A feedFrame is one, from the primary.
type feedFrame struct {
	kind                   frame.Kind
	seq, change, highWater uint64
	rows                   []joinRow // of a join
	pending                uint64    // of a beat
	body                   []byte    // of all others
	soleMember             bool      // nobody else is sent it; does not travel
}

// A joinRow is a row that a member is to follow. A learner has a copy of it.
type joinRow struct {
	table.Ref
	learner bool
}

const feedHeadSize = 24

// head is what comes before a frame's body.
func (f *feedFrame) head() (b [feedHeadSize]byte) {
	binary.BigEndian.PutUint64(b[0:], f.seq)
	binary.BigEndian.PutUint64(b[8:], f.change)
	binary.BigEndian.PutUint64(b[16:], f.highWater)
	return b
}

// content is a frame's body.
func (f *feedFrame) content() []byte {
	switch f.kind {
	case kindJoin, kindCatchUp:
		return appendJoins(nil, f.rows)
	case kindHeartbeat:
		return binary.AppendUvarint(nil, f.pending)
	}
	return f.body
}

// parseFeed reads a frame; what it returns shares the payload's memory.
func parseFrame(kind frame.Kind, payload []byte) (*feedFrame, error) {
	if len(payload) < feedHeadSize {
		return nil, fmt.Errorf("%w: %d bytes of a feed", frame.ErrMalformed, len(payload))
	}
	f := &feedFrame{
		kind: kind, seq: binary.BigEndian.Uint64(payload), change: binary.BigEndian.Uint64(payload[8:]),
		highWater: binary.BigEndian.Uint64(payload[16:]),
	}
	body := payload[feedHeadSize:]
	switch kind {
	case kindJoin, kindCatchUp:
		var err error
		f.rows, err = parseJoins(body)
		return f, err
	case kindHeartbeat:
		n, w := binary.Uvarint(body)
		if w <= 0 || w < len(body) {
			return nil, fmt.Errorf("%w: a beat", frame.ErrMalformed)
		}
		f.pending = n
	case kindBatch, kindQuestion:
		f.body = body
	default:
		return nil, fmt.Errorf("%w: kind %d from a primary", frame.ErrMalformed, kind)
	}
	return f, nil
}

// minJoin is how many bytes a joinRow has at least.
const minJoin = 12

func appendJoins(b []byte, rows []joinRow) []byte {
	for i := range rows {
		j := &rows[i]
		b = binary.BigEndian.AppendUint32(b, uint32(j.Range.Start))
		b = binary.BigEndian.AppendUint32(b, uint32(j.Range.End))
		b = binary.AppendUvarint(b, j.Lineage)
		b = binary.AppendUvarint(b, j.Epoch)
		b = binary.AppendUvarint(b, j.Version)
		if j.learner {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	return b
}

func parseJoins(b []byte) ([]joinRow, error) {
	rows := make([]joinRow, 0, len(b)/minJoin)
	for len(b) > 0 {
		if len(b) < minJoin {
			return nil, fmt.Errorf("%w: a join", frame.ErrMalformed)
		}
		var j joinRow
		j.Range = ring.Range{Start: ring.Token(binary.BigEndian.Uint32(b)), End: ring.Token(binary.BigEndian.Uint32(b[4:]))}
		b = b[8:]
		for _, v := range []*uint64{&j.Lineage, &j.Epoch, &j.Version} {
			n, w := binary.Uvarint(b)
			if w <= 0 {
				return nil, fmt.Errorf("%w: a join", frame.ErrMalformed)
			}
			*v, b = n, b[w:]
		}
		if len(b) == 0 || b[0] > 1 {
			return nil, fmt.Errorf("%w: a join", frame.ErrMalformed)
		}
		j.learner, b = b[0] == 1, b[1:]
		rows = append(rows, j)
	}
	return rows, nil
}

// A greeting begins a session, or goes on with it, on a new connection.
type greeting struct {
	From        string
	Incarnation uint64
	To          uint64 // the member's incarnation
	Session     uint64
}

// A question is about rows that another node, or an earlier start, was the primary of.
type question struct {
	Origins []origin
}

// An origin is one such start, and what the one who asks has of it.
type origin struct {
	Node        string
	Incarnation uint64
	Last        uint64
	Rows        []originRow
}

// An originRow is a row, and the epoch that it has now.
type originRow struct {
	Range ring.Range
	Epoch uint64
}

// A report answers a question, for each origin.
type report struct {
	Origins []originReport
}

// An originReport tells how far a member has followed.
type originReport struct {
	Last uint64
	// Rows are for each row whether the member has followed it, and has nothing of it that
	// the one who asks has not.
	Rows []bool
}
