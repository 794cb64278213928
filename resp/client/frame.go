package client

import (
	"encoding/binary"
	"fmt"
	"time"
)

// What travels on a connection for forwarding. Numbers are big-endian; the length
// counts what follows it.
//
//	request  u32 length | u64 id | u8 flags | u32 commands | [u64 author] | [u64 known] | [24 bytes trace] | RESP | u64 deadline
//	reply    u32 length | u64 id | u8 status | u32 replies | u32 each | [u8 each] | RESP
//	clock    u32 length | u64 0 | u8 status | u32 0 | u64 time
//
// Flags: bit 0, replies are wanted in RESP3; bit 1, replies to writes need not wait for
// backups; bit 2, the asking node's clients keep what is read, and author is which of them
// writes, if that one is not to be told; bit 3, the commands are no use of their keys; bit 4, known is what the
// asking node knows of swaps of databases and of REPLICAOF, see resp.Terms, else nothing; bit 5, trace is the context of a trace; bit 6, an error undoes what the
// commands do. The deadline is in ns on the clock of the side that
// serves, 0 for none: so the time that a request lies in buffers counts, also while the serving
// process is stopped. It comes last, since the time of a large request is put off while its bytes
// travel. The serving side writes its clock first of all, and in front of each batch of replies;
// the asking side sends nothing before it has read the clock once.
//
// The replies are as many as the commands and lie end to end, their lengths before them. With
// status marked, a byte for
// each reply follows the lengths: 0 says that the reply is the command's own, any other value
// what the serving side says of the command in place of its reply or beside it. A refused or
// unknown call has no replies but a text. The last reply of a connection that is ended on purpose
// has id 0, status end and nothing else: no request that has no reply by then was read.

const (
	lengthSize   = 4
	requestHead  = lengthSize + 8 + 1 + 4
	deadlineSize = 8 // behind the commands of a request
	replyHead    = lengthSize + 8 + 1 + 4
	clockFrame   = replyHead + 8

	// defaultMaxFrame leaves room for Redis' largest value.
	defaultMaxFrame = 513 << 20

	flagRESP3   = 1
	flagEarly   = 2
	flagKeeps   = 4
	flagNoTouch = 8 // to peers that speak noTouchVersion
	flagKnown   = 16
	flagTrace   = 32  // to peers that speak traceVersion
	flagAtomic  = 64  // likewise
	flagPart    = 128 // to peers that speak partVersion

	// noTouchVersion is the version of the protocol between nodes from which on peers know flagNoTouch.
	noTouchVersion = 12
	// traceVersion is the one from which on peers know flagTrace and flagAtomic.
	traceVersion = 16
	// partVersion is the one from which on peers know flagPart.
	partVersion = 19

	authorSize = 8 // of a request that says that it keeps
	knownSize  = 8
	traceSize  = 24
)

type status byte

const (
	statusOK      status = 0
	statusRefused status = 1 // nothing was executed
	statusUnknown status = 2 // something may have been executed
	statusEnd     status = 3 // nothing of what is not answered was read
	statusMarked  status = 4 // as ok, with a mark for each reply
	statusClock   status = 5 // no reply, but the time of the serving side
)

// maxText is the length that an error text is cut to, in bytes.
const maxText = 1 << 10

type requestFrame struct {
	id       uint64
	resp3    bool
	early    bool
	keeps    bool
	noTouch  bool
	atomic   bool
	part     bool
	author   int64
	known    uint64
	trace    []byte        // traceSize bytes, or nil
	deadline time.Duration // on the clock of the serving side; 0: none
	count    uint32
	commands []byte
}

// appendHead appends what comes before the commands. Behind them comes the deadline.
func (r *requestFrame) appendHead(b []byte) []byte {
	size := requestHead - lengthSize + len(r.commands) + deadlineSize
	var flags byte
	if r.keeps {
		flags |= flagKeeps
		size += authorSize
	}
	if r.known > 0 {
		flags |= flagKnown
		size += knownSize
	}
	if r.trace != nil {
		flags |= flagTrace
		size += traceSize
	}
	b = binary.BigEndian.AppendUint32(b, uint32(size))
	b = binary.BigEndian.AppendUint64(b, r.id)
	if r.resp3 {
		flags |= flagRESP3
	}
	if r.early {
		flags |= flagEarly
	}
	if r.noTouch {
		flags |= flagNoTouch
	}
	if r.atomic {
		flags |= flagAtomic
	}
	if r.part {
		flags |= flagPart
	}
	b = append(b, flags)
	b = binary.BigEndian.AppendUint32(b, r.count)
	if r.keeps {
		b = binary.BigEndian.AppendUint64(b, uint64(r.author))
	}
	if r.known > 0 {
		b = binary.BigEndian.AppendUint64(b, r.known)
	}
	return append(b, r.trace...)
}

// parseRequest reads a whole frame, its length included. The commands lie in it.
func parseRequest(frame []byte) (requestFrame, error) {
	if len(frame) < requestHead+deadlineSize {
		return requestFrame{}, fmt.Errorf("%w: request of %d bytes", ErrProtocol, len(frame))
	}
	flags := frame[12]
	end := len(frame) - deadlineSize
	r := requestFrame{
		id:       binary.BigEndian.Uint64(frame[4:]),
		resp3:    flags&flagRESP3 != 0,
		early:    flags&flagEarly != 0,
		keeps:    flags&flagKeeps != 0,
		noTouch:  flags&flagNoTouch != 0,
		atomic:   flags&flagAtomic != 0,
		part:     flags&flagPart != 0,
		count:    binary.BigEndian.Uint32(frame[13:]),
		commands: frame[requestHead:end],
		deadline: time.Duration(binary.BigEndian.Uint64(frame[end:])),
	}
	if r.keeps {
		if len(r.commands) < authorSize {
			return requestFrame{}, fmt.Errorf("%w: request of %d bytes without its author", ErrProtocol, len(frame))
		}
		r.author = int64(binary.BigEndian.Uint64(r.commands))
		r.commands = r.commands[authorSize:]
	}
	if flags&flagKnown != 0 {
		if len(r.commands) < knownSize {
			return requestFrame{}, fmt.Errorf("%w: request of %d bytes without its known", ErrProtocol, len(frame))
		}
		r.known = binary.BigEndian.Uint64(r.commands)
		r.commands = r.commands[knownSize:]
	}
	if flags&flagTrace != 0 {
		if len(r.commands) < traceSize {
			return requestFrame{}, fmt.Errorf("%w: request of %d bytes without its trace", ErrProtocol, len(frame))
		}
		r.trace, r.commands = r.commands[:traceSize:traceSize], r.commands[traceSize:]
	}
	if !countFits(int64(r.count), len(r.commands)) {
		return requestFrame{}, fmt.Errorf("%w: %d commands in %d bytes", ErrProtocol, r.count, len(r.commands))
	}
	return r, nil
}

// countFits: every command has at least a byte.
func countFits(count int64, size int) bool { return count >= 1 && count <= int64(size) }

type replyFrame struct {
	id     uint64
	status status
	lens   []byte // 4 bytes each
	marks  []byte // a byte each, or none
	body   []byte // replies, or a text
}

func appendReplyHead(b []byte, id uint64, s status, count, size int) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(replySize(count, 0, size)))
	b = binary.BigEndian.AppendUint64(b, id)
	b = append(b, byte(s))
	return binary.BigEndian.AppendUint32(b, uint32(count))
}

// replySize is the length of a reply frame as its length field counts.
func replySize(count, marks, size int) int { return replyHead - lengthSize + 4*count + marks + size }

// appendReply appends a frame with a mark for each reply, or without any.
func appendReply(b []byte, id uint64, lens []uint32, marks, replies []byte) []byte {
	s := statusOK
	if len(marks) > 0 {
		s = statusMarked
	}
	b = appendReplyHead(b, id, s, len(lens), len(marks)+len(replies))
	for _, n := range lens {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	b = append(b, marks...)
	return append(b, replies...)
}

func parseReply(frame []byte) (replyFrame, error) {
	if len(frame) < replyHead {
		return replyFrame{}, fmt.Errorf("%w: reply of %d bytes", ErrProtocol, len(frame))
	}
	r := replyFrame{id: binary.BigEndian.Uint64(frame[4:]), status: status(frame[12])}
	count := uint64(binary.BigEndian.Uint32(frame[13:]))
	rest := frame[replyHead:]
	if count > uint64(len(rest)/4) {
		return replyFrame{}, fmt.Errorf("%w: %d replies in %d bytes", ErrProtocol, count, len(rest))
	}
	r.lens, r.body = rest[:4*count], rest[4*count:]
	switch r.status {
	case statusOK, statusMarked:
		if r.status == statusMarked {
			if count > uint64(len(r.body)) {
				return replyFrame{}, fmt.Errorf("%w: %d marks in %d bytes", ErrProtocol, count, len(r.body))
			}
			r.marks, r.body = r.body[:count], r.body[count:]
		}
		var sum uint64
		for i := 0; i < len(r.lens); i += 4 {
			sum += uint64(binary.BigEndian.Uint32(r.lens[i:]))
		}
		if sum != uint64(len(r.body)) {
			return replyFrame{}, fmt.Errorf("%w: replies of %d bytes in %d", ErrProtocol, sum, len(r.body))
		}
	case statusClock:
		if r.id != 0 || len(frame) != clockFrame || count != 0 {
			return replyFrame{}, fmt.Errorf("%w: a clock of %d bytes, with id %d", ErrProtocol, len(frame), r.id)
		}
	case statusRefused, statusUnknown:
		if count != 0 {
			return replyFrame{}, fmt.Errorf("%w: %d replies with status %d", ErrProtocol, count, r.status)
		}
	case statusEnd:
		if r.id != 0 || len(frame) > replyHead {
			return replyFrame{}, fmt.Errorf("%w: an end of %d bytes, with id %d", ErrProtocol, len(frame), r.id)
		}
	default:
		return replyFrame{}, fmt.Errorf("%w: unknown status %d", ErrProtocol, r.status)
	}
	return r, nil
}

// appendClock appends a clock frame; putClock says what time it is in the one that b begins
// with.
func appendClock(b []byte) []byte {
	b = appendReplyHead(b, 0, statusClock, 0, clockFrame-replyHead)
	return binary.BigEndian.AppendUint64(b, 0)
}

func putClock(b []byte, at time.Duration) {
	binary.BigEndian.PutUint64(b[replyHead:clockFrame], uint64(at))
}

// clock is the time in a clock frame.
func (r *replyFrame) clock() time.Duration { return time.Duration(binary.BigEndian.Uint64(r.body)) }
