package bus

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// The records of a sealed connection: the length of the sealed part in 4 bytes,
// big-endian, then AES-256-GCM of 1 to 64 KiB. The length is authenticated with it;
// the nonce is the number of the record in its direction, so a record that is
// missing, repeated or out of place fails.

const (
	maxRecord   = 64 << 10 // bytes of plain text
	recordHead  = 4
	recordTag   = 16
	recordNonce = 12
	// What a connection starts to read into; larger records make it grow.
	firstReadBuffer = 16 << 10
)

// sealedConn is safe for one reader and one writer at a time beside it, as every
// net.Conn here; the locks only keep a mistake from breaking the counters.
type sealedConn struct {
	net.Conn

	readMu  sync.Mutex
	opening cipher.AEAD
	opened  uint64 // records
	inNonce [recordNonce]byte
	in      []byte // bytes read and not yet opened are in[inStart:inEnd]
	inStart int
	inEnd   int
	plain   []byte // opened and not yet returned; lies in `in`
	readErr error

	writeMu  sync.Mutex
	sealing  cipher.AEAD
	sealed   uint64 // records
	outNonce [recordNonce]byte
	out      []byte
	writeErr error
}

// PeerIncarnation is that of what carries the connection.
func (c *sealedConn) PeerIncarnation() uint64 {
	return c.Conn.(interface{ PeerIncarnation() uint64 }).PeerIncarnation()
}

// PeerVersion is that of what carries the connection.
func (c *sealedConn) PeerVersion() uint16 {
	return c.Conn.(interface{ PeerVersion() uint16 }).PeerVersion()
}

func newSealedConn(conn net.Conn, sealing, opening []byte) (*sealedConn, error) {
	c := &sealedConn{Conn: conn}
	for _, side := range []struct {
		key  []byte
		aead *cipher.AEAD
	}{{sealing, &c.sealing}, {opening, &c.opening}} {
		block, err := aes.NewCipher(side.key)
		if err != nil {
			return nil, fmt.Errorf("seal connection: %w", err)
		}
		if *side.aead, err = cipher.NewGCM(block); err != nil {
			return nil, fmt.Errorf("seal connection: %w", err)
		}
	}
	return c, nil
}

// Write sends p in records. Of an unfinished Write, it counts the bytes of the
// records that went out whole: the peer cannot read any other. After an error, also
// after a deadline, the connection takes no more.
func (c *sealedConn) Write(p []byte) (int, error) {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if c.writeErr != nil {
		return 0, c.writeErr
	}
	done := 0
	for done < len(p) {
		piece := p[done:min(done+maxRecord, len(p))]
		c.seal(piece)
		if _, err := c.Conn.Write(c.out); err != nil {
			c.writeErr = err
			return done, err
		}
		done += len(piece)
	}
	return done, nil
}

func (c *sealedConn) seal(piece []byte) {
	n := recordHead + len(piece) + recordTag
	if cap(c.out) < n {
		c.out = make([]byte, 0, min(2*n, recordHead+maxRecord+recordTag))
	}
	head := c.out[:recordHead]
	binary.BigEndian.PutUint32(head, uint32(len(piece)+recordTag))
	binary.BigEndian.PutUint64(c.outNonce[recordNonce-8:], c.sealed)
	c.sealed++
	c.out = c.sealing.Seal(head, c.outNonce[:], piece, head)
}

// Read returns what the next record holds. A deadline that passes leaves the
// connection as it was; a record that fails ends it.
func (c *sealedConn) Read(p []byte) (int, error) {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	for len(c.plain) == 0 {
		if c.readErr != nil {
			return 0, c.readErr
		}
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.plain)
	c.plain = c.plain[n:]
	return n, nil
}

// next opens a record, or reads more of it.
func (c *sealedConn) next() error {
	have := c.in[c.inStart:c.inEnd]
	need := recordHead
	if len(have) >= recordHead {
		n := int(binary.BigEndian.Uint32(have))
		if n <= recordTag || n > maxRecord+recordTag {
			c.readErr = fmt.Errorf("%w: sealed part of %d bytes", ErrTampered, n)
			return c.readErr
		}
		need += n
	}
	if len(have) < need || need == recordHead {
		return c.fill(need)
	}
	binary.BigEndian.PutUint64(c.inNonce[recordNonce-8:], c.opened)
	head, body := have[:recordHead], have[recordHead:need]
	plain, err := c.opening.Open(body[:0], c.inNonce[:], body, head)
	if err != nil {
		c.readErr = ErrTampered
		return c.readErr
	}
	c.opened++
	c.plain = plain
	c.inStart += need
	return nil
}

// fill reads from the connection until at least need bytes can be there.
func (c *sealedConn) fill(need int) error {
	if c.inStart == c.inEnd {
		c.inStart, c.inEnd = 0, 0
	}
	if len(c.in)-c.inStart < need {
		in := c.in
		if len(in) < need {
			in = make([]byte, max(need, min(4*len(c.in), 4*maxRecord), firstReadBuffer))
		}
		c.inEnd = copy(in, c.in[c.inStart:c.inEnd])
		c.in, c.inStart = in, 0
	}
	n, err := c.Conn.Read(c.in[c.inEnd:])
	c.inEnd += n
	if n > 0 {
		return nil // an error comes again
	}
	if errors.Is(err, io.EOF) && c.inStart < c.inEnd {
		err = io.ErrUnexpectedEOF
	}
	return err
}
