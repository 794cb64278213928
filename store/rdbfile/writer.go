package rdbfile

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/ringside-kv/ringside/store/rdb"
)

// Versions of the files that a Writer writes: the oldest that streams fit into, and the newest in which
// nothing is written that is not known here. Valkey reads those up to 11.
const (
	MinWriteVersion = 9
	MaxWriteVersion = 14
)

// A Writer writes an RDB file. After an error it does nothing more, and returns the error again. One
// goroutine uses it.
type Writer struct {
	out      *bufio.Writer
	sum      uint64
	buf      []byte
	version  int
	database int
	selected bool
	written  int64
	err      error
}

// NewWriter begins a file of an RDB version.
func NewWriter(out io.Writer, version int) (*Writer, error) {
	if version < MinWriteVersion || version > MaxWriteVersion {
		return nil, fmt.Errorf("%w: %d is not between %d and %d", ErrVersion, version, MinWriteVersion, MaxWriteVersion)
	}
	w := &Writer{out: bufio.NewWriterSize(out, bufferSize), version: version}
	w.buf = fmt.Appendf(w.buf, "REDIS%04d", version)
	return w, w.flush()
}

// flush writes what is in buf.
func (w *Writer) flush() error {
	if w.err == nil {
		w.sum = rdb.Checksum(w.sum, w.buf)
		w.written += int64(len(w.buf))
		_, w.err = w.out.Write(w.buf)
	}
	w.buf = w.buf[:0]
	return w.err
}

// Written is how many bytes the file has so far.
func (w *Writer) Written() int64 { return w.written }

// Aux writes a fact about the file. It must come before all keys.
func (w *Writer) Aux(name, value string) error {
	w.buf = rdb.AppendElement(append(w.buf, opAux), []byte(name))
	w.buf = rdb.AppendElement(w.buf, []byte(value))
	return w.flush()
}

// Function writes a library of functions, which needs version 10. It must come before all keys.
func (w *Writer) Function(code string) error {
	w.buf = rdb.AppendElement(append(w.buf, opFunction), []byte(code))
	return w.flush()
}

// Key writes a key with a payload of DUMP. The keys of a database come together. expireAt is in ms since
// 1970, 0 for never.
func (w *Writer) Key(database int, key, payload []byte, expireAt int64) error {
	body, _, err := rdb.OpenAny(payload)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return fmt.Errorf("%w: an empty payload", rdb.ErrFormat)
	}
	if w.version < rdb.ActiveVersion {
		if body, err = rdb.StreamWithoutActive(body); err != nil {
			return err
		}
	}
	if needed := oldestVersion(body[0]); needed > w.version {
		return fmt.Errorf("%w: a value of type %d needs RDB version %d, and the file is of version %d", ErrVersion, body[0], needed, w.version)
	}
	if !w.selected || database != w.database {
		w.buf = rdb.AppendLen(append(w.buf, opSelect), uint64(database))
		w.database, w.selected = database, true
	}
	if expireAt != 0 {
		w.buf = binary.LittleEndian.AppendUint64(append(w.buf, opExpireMillis), uint64(expireAt))
	}
	w.buf = rdb.AppendElement(append(w.buf, body[0]), key)
	w.buf = append(w.buf, body[1:]...)
	return w.flush()
}

// oldestVersion is the oldest RDB version of files that may hold values of a type.
func oldestVersion(typ byte) int {
	switch {
	case typ <= typeStream1:
		return 9
	case typ <= typeStream2:
		return 10
	case typ <= typeStream3:
		return 11
	case typ < typeStream4:
		return rdb.TimedVersion
	}
	return rdb.ReleasedVersion
}

// Close ends the file with its checksum. It does not close the output.
func (w *Writer) Close() error {
	w.buf = append(w.buf, opEnd)
	if err := w.flush(); err != nil {
		return err
	}
	w.buf = binary.LittleEndian.AppendUint64(w.buf, w.sum)
	if err := w.flush(); err != nil {
		return err
	}
	return w.out.Flush()
}
