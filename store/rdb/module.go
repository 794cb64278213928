package rdb

import (
	"encoding/binary"
	"fmt"
	"math"
)

// typeModule begins a value of a module: the number of the module's type, then pieces, each behind its kind.
const typeModule = 7

// The kinds of pieces.
const (
	pieceEnd      = 0
	pieceUnsigned = 2
	pieceDouble   = 4
	pieceString   = 5
)

// A ModuleType is the type of a module's values: a name of nine characters, and the version of its pieces.
type ModuleType struct {
	Name    string
	Version int
}

// The types of modules whose values are kept here.
var (
	// JSONType is that of RedisJSON: a string with the text.
	JSONType = ModuleType{"ReJSON-RL", 3}
	// BloomType is that of RedisBloom's scalable filters.
	BloomType = ModuleType{"MBbloom--", 4}
)

// knownModules are the types that values of modules can have here.
var knownModules = []struct {
	ModuleType
	t Type
}{{JSONType, JSON}, {BloomType, Bloom}}

// letters are those of the names of modules' types, by their numbers of six bits.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// versionBits is how many bits of a type's number are its version; the others are its name.
const versionBits = 10

// ModuleTypeOf returns what the number of a module's type says.
func ModuleTypeOf(id uint64) ModuleType {
	var name [9]byte
	for i := range name {
		name[i] = letters[id>>(64-6*(i+1))&63]
	}
	return ModuleType{string(name[:]), int(id & (1<<versionBits - 1))}
}

// id returns the number of a type.
func (m ModuleType) id() uint64 {
	id := uint64(0)
	for i := range len(m.Name) {
		for n := range len(letters) {
			if letters[n] == m.Name[i] {
				id = id<<6 | uint64(n)
			}
		}
	}
	return id<<versionBits | uint64(m.Version)
}

// String returns the name and the version, for error texts.
func (m ModuleType) String() string { return fmt.Sprintf("%s (version %d)", m.Name, m.Version) }

// IsKnown reports whether values of the type can be read.
func (m ModuleType) IsKnown() bool {
	_, ok := m.known()
	return ok
}

func (m ModuleType) known() (t Type, ok bool) {
	for _, k := range knownModules {
		if k.ModuleType == m {
			return k.t, true
		}
	}
	return 0, false
}

// decodeModule reads the value of a module; body follows the type byte.
func decodeModule(body []byte, most limit) (Value, error) {
	id, rest, err := readPlainLen(body)
	if err != nil {
		return Value{}, err
	}
	m := ModuleTypeOf(id)
	t, ok := m.known()
	if !ok {
		return Value{}, fmt.Errorf("%w: %s of the module %s", ErrType, Module, m)
	}
	v := Value{Type: t, body: rest, most: most}
	if t == JSON {
		p := v.Pieces()
		v.Bytes = p.Bytes()
		err = p.End()
	}
	return v, err
}

// IsModule reports whether a payload has a value of a module, which only servers with that module can read.
func IsModule(payload []byte) bool { return len(payload) > 0 && payload[0] == typeModule }

// Pieces returns what reads the pieces of a value of a module.
func (v *Value) Pieces() *Pieces { return &Pieces{rest: v.body, most: v.most} }

// A Pieces reads the pieces of a value, in their order. Behind the first one that is not as it was asked for, all are
// zero, and End returns the error.
type Pieces struct {
	rest []byte
	most limit
	read int64 // bytes of strings
	// piece is what Next has read.
	piece []byte
	err   error
}

func (p *Pieces) kind(want uint64) bool {
	if p.err != nil {
		return false
	}
	kind, rest, err := readPlainLen(p.rest)
	if err == nil && kind != want {
		err = fmt.Errorf("%w: a piece of kind %d in place of %d", ErrFormat, kind, want)
	}
	p.rest, p.err = rest, err
	return err == nil
}

// Unsigned reads an integer.
func (p *Pieces) Unsigned() (n uint64) {
	if p.kind(pieceUnsigned) {
		n, p.rest, p.err = readPlainLen(p.rest)
	}
	return n
}

// Double reads a number.
func (p *Pieces) Double() float64 {
	if !p.kind(pieceDouble) {
		return 0
	}
	if len(p.rest) < 8 {
		p.err = errShort("double")
		return 0
	}
	bits := binary.LittleEndian.Uint64(p.rest)
	p.rest = p.rest[8:]
	return math.Float64frombits(bits)
}

// Bytes reads a string, which may share memory with the payload. All strings of a value together are bounded as one is.
func (p *Pieces) Bytes() (value []byte) {
	if !p.kind(pieceString) {
		return nil
	}
	value, p.rest, p.err = readString(p.rest, p.most)
	if p.read += int64(len(value)); p.err == nil {
		p.err = checkLen(uint64(p.read), p.most)
	}
	return value
}

// Next reads a piece of any kind, and returns false at the end of the value or behind an error.
func (p *Pieces) Next() bool {
	if p.err != nil {
		return false
	}
	kind, _, err := readPlainLen(p.rest)
	var number [9]byte
	number[0], p.piece = byte(kind), nil
	switch {
	case err != nil:
		p.err = err
	case kind == pieceEnd:
		p.err = p.End()
		return false
	case kind == pieceUnsigned:
		binary.LittleEndian.PutUint64(number[1:], p.Unsigned())
		p.piece = number[:]
	case kind == pieceDouble:
		binary.LittleEndian.PutUint64(number[1:], math.Float64bits(p.Double()))
		p.piece = number[:]
	default:
		p.piece = p.Bytes()
	}
	return p.err == nil
}

// Piece returns the piece that Next has read: a string, or the bytes of a number.
func (p *Pieces) Piece() []byte { return p.piece }

// Fail notes that the pieces are not what they should be, unless something was wrong before.
func (p *Pieces) Fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: "+format, append([]any{ErrFormat}, args...)...)
	}
}

// Err returns what has been wrong so far.
func (p *Pieces) Err() error { return p.err }

// End reads the end of the value, and returns what was wrong with it.
func (p *Pieces) End() error {
	if p.kind(pieceEnd) {
		p.err = CheckEnd(p.rest)
	}
	return p.err
}

// BeginModule appends the beginning of a payload for a value of a module. Its pieces follow, then [EndModule].
func BeginModule(dst []byte, m ModuleType) []byte { return appendLen(append(dst, typeModule), m.id()) }

// AppendUnsigned appends a piece that is an integer.
func AppendUnsigned(dst []byte, n uint64) []byte { return appendLen(append(dst, pieceUnsigned), n) }

// AppendDouble appends a piece that is a number.
func AppendDouble(dst []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(append(dst, pieceDouble), math.Float64bits(f))
}

// AppendPiece appends a piece that is a string.
func AppendPiece(dst, value []byte) []byte { return appendString(append(dst, pieceString), value) }

// EndModule ends a payload that begins at dst[start].
func EndModule(dst []byte, start int) []byte { return seal(append(dst, pieceEnd), start) }
