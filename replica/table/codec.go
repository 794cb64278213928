package table

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/ringside-kv/ringside/ring"
)

// maxText is the length in bytes of the longest name in a command or a snapshot.
const maxText = 255

// A codec reads or writes binary forms. What is coded says so once, field by field,
// for both directions, so that they cannot differ. Numbers are unsigned varints; a
// text that came before is the number of its place. After a fault a reading codec
// goes on with zeroes, and err says what came first.
type codec struct {
	reading bool
	buf     []byte // what was written, or what is left to read
	err     error

	texts  []string
	places map[string]uint64
}

func writer() *codec            { return &codec{places: make(map[string]uint64)} }
func reader(data []byte) *codec { return &codec{reading: true, buf: data} }

func (c *codec) fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", ErrMalformed, what)
	}
	c.buf = nil
}

// finish is the fault of what was read, if it has one.
func (c *codec) finish() error {
	if c.err == nil && len(c.buf) > 0 {
		c.fail("bytes after the end")
	}
	return c.err
}

func (c *codec) number(v *uint64) {
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, *v)
		return
	}
	n := 0
	if *v, n = binary.Uvarint(c.buf); n <= 0 {
		*v = 0
		c.fail("cut off, or a number too large")
		return
	}
	c.buf = c.buf[n:]
}

// added codes a number that older versions do not write: the last of a command.
func (c *codec) added(v *uint64) {
	if c.reading && len(c.buf) == 0 || !c.reading && *v == 0 {
		return
	}
	c.number(v)
}

// addedFlag is added for a flag.
func (c *codec) addedFlag(v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	c.added(&n)
	if n > 1 {
		c.fail("a value that does not exist")
	}
	*v = n == 1
}

// small codes a number of a few bits.
func small[T ~uint8](c *codec, v *T, limit T) {
	n := uint64(*v)
	c.number(&n)
	if n > uint64(limit) {
		c.fail("a value that does not exist")
		n = 0
	}
	*v = T(n)
}

func (c *codec) integer(v *int) {
	n := uint64(*v)
	c.number(&n)
	if n > math.MaxInt32 {
		c.fail("a number too large")
		n = 0
	}
	*v = int(n)
}

// signed codes a number that is not negative in anything that is valid.
func (c *codec) signed(v *int64) {
	n := uint64(*v)
	c.number(&n)
	*v = int64(n)
}

func (c *codec) flag(v *bool) {
	n := uint8(0)
	if *v {
		n = 1
	}
	small(c, &n, 1)
	*v = n == 1
}

func (c *codec) float(v *float64) {
	if !c.reading {
		c.buf = binary.BigEndian.AppendUint64(c.buf, math.Float64bits(*v))
		return
	}
	if len(c.buf) < 8 {
		c.fail("cut off")
		return
	}
	*v = math.Float64frombits(binary.BigEndian.Uint64(c.buf))
	c.buf = c.buf[8:]
}

func (c *codec) token(v *ring.Token) {
	if !c.reading {
		c.buf = binary.BigEndian.AppendUint32(c.buf, uint32(*v))
		return
	}
	if len(c.buf) < 4 {
		c.fail("cut off")
		return
	}
	*v = ring.Token(binary.BigEndian.Uint32(c.buf))
	c.buf = c.buf[4:]
}

func (c *codec) span(v *ring.Range) {
	c.token(&v.Start)
	c.token(&v.End)
}

func (c *codec) text(v *string) {
	if !c.reading {
		place, known := c.places[*v]
		if !known {
			c.places[*v] = uint64(len(c.places)) + 1
			c.buf = append(c.buf, 0)
			c.buf = binary.AppendUvarint(c.buf, uint64(len(*v)))
			c.buf = append(c.buf, *v...)
			return
		}
		c.buf = binary.AppendUvarint(c.buf, place)
		return
	}
	var n uint64
	c.number(&n)
	if n > 0 {
		if n > uint64(len(c.texts)) {
			c.fail("a text that did not come before")
			return
		}
		*v = c.texts[n-1]
		return
	}
	c.number(&n)
	if n > maxText || n > uint64(len(c.buf)) {
		c.fail("a text too long")
	}
	if c.err != nil {
		return
	}
	*v = string(c.buf[:n])
	c.buf = c.buf[n:]
	c.texts = append(c.texts, *v)
}

// optional codes what may not be there.
func optional[T any](c *codec, v **T, value func(*T)) {
	there := *v != nil
	c.flag(&there)
	if !there {
		return
	}
	if c.reading {
		*v = new(T)
	}
	value(*v)
}

// list codes a counted list. size is how many bytes an element takes at least: no
// count asks for more memory than the bytes that follow can fill.
func list[T any](c *codec, v *[]T, size int, element func(*T)) {
	n := uint64(len(*v))
	c.number(&n)
	if c.reading {
		*v = nil
		if n > uint64(len(c.buf)/size) {
			c.fail("a count beyond the bytes that follow")
		}
		if n == 0 || c.err != nil {
			return
		}
		*v = make([]T, n)
	}
	for i := range *v {
		element(&(*v)[i])
		if c.err != nil {
			return
		}
	}
}

func (c *codec) textList(v *[]string)      { list(c, v, 1, c.text) }
func (c *codec) numberList(v *[]uint64)    { list(c, v, 1, c.number) }
func (c *codec) tokenList(v *[]ring.Token) { list(c, v, 4, c.token) }
