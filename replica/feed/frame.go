package feed

import (
	"encoding/binary"
	"fmt"

	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A frame of a feed has the head of package frame. From the primary follow its number in the
// session, the number of the newest change that its receiver needs, the high-water mark (8 bytes
// each, big endian), and the body. The first frame of a connection is a greeting in JSON
// (frame.Open). The backup replies with frame.Ready and the number of its last frame, and
// acknowledges with frame.Ack.

const (
	kindBatch     frame.Kind = 16 // a batch of the store
	kindJoin      frame.Kind = 17 // rows that are followed from here on
	kindCatchUp   frame.Kind = 18 // rows whose missing changes follow, until they are joined
	kindHeartbeat frame.Kind = 19 // the number of unacknowledged changes, as a uvarint
	kindQuestion  frame.Kind = 20 // a question about rows of other primaries, in JSON
	// From the backup, in reply to kindQuestion: the number of the question's frame (8 bytes), then
	// JSON.
	kindAnswer frame.Kind = 21
)

// A feedFrame is a frame from the primary.
type feedFrame struct {
	kind                   frame.Kind
	seq, change, highWater uint64
	rows                   []joinRow // of a join or a catch-up
	pending                uint64    // of a heartbeat
	body                   []byte    // of all other kinds
	soleMember             bool      // the receiver is the only member; not sent
}

// A joinRow is a row that a backup is to follow. A learner already has a copy of it.
type joinRow struct {
	table.Ref
	learner bool
}

const feedHeadSize = 24

// head returns the fixed part in front of the body.
func (f *feedFrame) head() (b [feedHeadSize]byte) {
	binary.BigEndian.PutUint64(b[0:], f.seq)
	binary.BigEndian.PutUint64(b[8:], f.change)
	binary.BigEndian.PutUint64(b[16:], f.highWater)
	return b
}

// content returns the body as it is sent.
func (f *feedFrame) content() []byte {
	switch f.kind {
	case kindJoin, kindCatchUp:
		return appendJoins(nil, f.rows)
	case kindHeartbeat:
		return binary.AppendUvarint(nil, f.pending)
	}
	return f.body
}

// parseFrame decodes a frame. The result shares the memory of payload.
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

// minJoin is the least number of bytes of a joinRow.
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

// A greeting starts or continues a session on a new connection.
type greeting struct {
	From        string
	Incarnation uint64
	To          uint64 // incarnation of the backup
	Session     uint64
}

// A question asks about rows of other primaries, or of earlier starts of this one.
type question struct {
	Origins []origin
}

// An origin is one start of such a primary, and how far the asking node has followed it.
type origin struct {
	Node        string
	Incarnation uint64
	Last        uint64
	Rows        []originRow
}

// An originRow is a row and its present epoch.
type originRow struct {
	Range ring.Range
	Epoch uint64
}

// A report answers a question, with one entry for each origin.
type report struct {
	Origins []originReport
}

// An originReport says how far a backup has followed an origin.
type originReport struct {
	Last uint64
	// Rows reports for each row whether the backup has followed it and has no change of it that the
	// asking node lacks.
	Rows []bool
}
