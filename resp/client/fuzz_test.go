package client

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// FuzzServeForward sends anything to the end that executes.
func FuzzServeForward(f *testing.F) {
	valid := requestFrame{id: 7, count: 2, noTouch: true, part: true, known: 3, commands: []byte("a\r\nb\r\n")}
	whole := func() []byte {
		return binary.BigEndian.AppendUint64(append(valid.appendHead(nil), valid.commands...), 5)
	}
	one := whole()
	f.Add(one, 10)
	f.Add(append(one, one...), 3)
	valid.keeps, valid.author = true, 1<<40
	f.Add(whole(), 10)
	f.Add(binary.BigEndian.AppendUint32(nil, 1<<31), 1)
	f.Add([]byte{0, 0, 0, 0}, 1)
	f.Add([]byte("*1\r\n$4\r\nPING\r\n"), 100)
	f.Fuzz(func(t *testing.T, data []byte, chunk int) {
		conn := &recordedConn{in: bytes.NewReader(data), chunk: max(chunk, 1)}
		served := 0
		err := ServeForward(conn, ServeConfig{MaxFrame: 1 << 16}, eachBatch(func(b *Batch) {
			served++
			if b.N < 1 || b.N > len(b.Commands) {
				t.Errorf("%d commands in %d bytes", b.N, len(b.Commands))
			}
			switch served % 3 {
			case 0:
				echo(b)
			case 1:
				b.Refuse("no")
			case 2:
				go echo(b)
			}
		}))
		if err == nil && served == 0 && len(data) > 0 {
			t.Error("garbage was taken for an orderly end")
		}
	})
}

// FuzzReplies lets a peer answer anything to two calls: they end.
func FuzzReplies(f *testing.F) {
	reply := func(id uint64, s status, lens []uint32, body string) []byte {
		b := appendReply(nil, id, lens, nil, []byte(body))
		b[lengthSize+8] = byte(s)
		return b
	}
	f.Add(reply(0, statusOK, []uint32{1, 1}, "xy"))
	f.Add(append(reply(1, statusRefused, nil, "no"), reply(0, statusUnknown, nil, "?")...))
	f.Add(reply(99, statusOK, nil, ""))
	f.Add(reply(0, statusMarked, []uint32{1, 1}, "\x00\x01xy"))
	f.Add(reply(0, statusMarked, []uint32{1, 1}, "\x00"))
	f.Add(reply(1<<40, statusOK, nil, ""))
	f.Add(append(appendClock(nil), reply(0, statusOK, []uint32{1, 1}, "xy")...))
	f.Add(reply(0, statusClock, nil, "12345678"))
	f.Add(reply(0, statusClock, nil, "1234567"))
	f.Add(reply(0, statusOK, []uint32{1 << 31, 1 << 31}, "xy"))
	f.Add(binary.BigEndian.AppendUint32(nil, 1<<31))
	f.Fuzz(func(t *testing.T, data []byte) {
		first := true
		p, err := NewPeer(PeerConfig{Conns: 1, MaxFrame: 1 << 16, Dial: func(context.Context) (net.Conn, error) {
			if !first {
				return nil, io.EOF
			}
			first = false
			near, far := net.Pipe()
			go func() {
				_, _ = far.Write(appendClock(nil))
				_, _ = io.CopyN(io.Discard, far, 2*(requestHead+2+deadlineSize))
				_, _ = far.Write(data)
				_ = far.Close()
			}()
			return near, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		calls := make([]Call, 2)
		for i := range calls {
			calls[i] = Call{Commands: []byte("xy"), N: 2}
			_ = p.Send(&calls[i])
		}
		for i := range calls {
			err := calls[i].Wait()
			if err == nil && (len(calls[i].Lens) != 2 || len(calls[i].Reply) != int(calls[i].Lens[0]+calls[i].Lens[1])) {
				t.Errorf("call %d: lengths %d of %q", i, calls[i].Lens, calls[i].Reply)
			}
			if err != nil && errors.Is(err, ErrNotSent) == errors.Is(err, ErrUnknownOutcome) {
				t.Errorf("call %d: %v: no single outcome", i, err)
			}
		}
	})
}

// A length alone must not cost its memory.
func TestLengthAloneCostsNoMemory(t *testing.T) {
	data := append(binary.BigEndian.AppendUint32(nil, 1<<30), make([]byte, 100)...)
	r := newFrameReader(bytes.NewReader(data), 1<<30)
	for r.fill() == nil {
		if frame, err := r.next(); frame != nil || err != nil {
			t.Fatal(frame, err)
		}
	}
	if len(r.buf) > readBuffer {
		t.Errorf("the buffer grew to %d bytes for %d that came", len(r.buf), len(data))
	}
}

func FuzzFrameReader(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 9, 0, 0, 0, 2, 8, 8}, 1)
	f.Add(append([]byte{0, 2, 0, 0}, make([]byte, 3<<16)...), 50000)
	f.Fuzz(func(t *testing.T, data []byte, chunk int) {
		const limit = 1 << 20
		r := newFrameReader(&recordedConn{in: bytes.NewReader(data), chunk: max(chunk, 1)}, limit)
		rest := data
		for {
			frame, err := r.next()
			if err != nil {
				return
			}
			if frame == nil {
				if r.fill() != nil {
					break
				}
				continue
			}
			if !bytes.HasPrefix(rest, frame) || int(binary.BigEndian.Uint32(frame)) != len(frame)-lengthSize {
				t.Fatalf("frame %x of %x", frame, rest)
			}
			rest = rest[len(frame):]
		}
		if len(rest) >= lengthSize && len(rest) >= lengthSize+int(binary.BigEndian.Uint32(rest)) {
			t.Errorf("%d bytes were left, with a whole frame", len(rest))
		}
	})
}

// A recordedConn reads from a recording, a few bytes at a time, and forgets what is
// written to it.
type recordedConn struct {
	net.Conn
	in    io.Reader
	chunk int
}

func (c *recordedConn) Read(p []byte) (int, error)  { return c.in.Read(p[:min(len(p), c.chunk)]) }
func (c *recordedConn) Write(p []byte) (int, error) { return len(p), nil }
func (c *recordedConn) Close() error                { return nil }

func (c *recordedConn) SetWriteDeadline(time.Time) error { return nil }
