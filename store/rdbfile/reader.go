package rdbfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/ringside-kv/ringside/store/rdb"
)

// The RDB versions that are known.
const (
	MaxRedisVersion  = 14
	MinValkeyVersion = 80
	MaxValkeyVersion = 81
)

// Opcodes.
const (
	opSlotImport   = 243 // of Valkey 9; in Redis 8 metadata of modules for the next key
	opSlotInfo     = 244
	opFunction     = 245
	opFunctionOld  = 246 // of previews of Redis 7.0
	opModuleAux    = 247
	opIdle         = 248
	opFreq         = 249
	opAux          = 250
	opResize       = 251
	opExpireMillis = 252
	opExpire       = 253
	opSelect       = 254
	opEnd          = 255
)

// Kind is what an [Entry] is.
type Kind int

const (
	// Key is a key with its value, or a part of it.
	Key Kind = iota
	// Aux is a fact about the file, such as the version of the server: Name and Value.
	Aux
	// Size says how many keys a database has: Keys and Expires.
	Size
	// Function is a library of functions: Value is its code, unless there is a Reason.
	Function
	// ModuleAux is data that a module keeps beside keys. It has no form outside the module: Reason says
	// whose it is.
	ModuleAux
)

// An Entry is one thing that a file holds. Its slices are valid until the next one is read.
type Entry struct {
	Kind     Kind
	Offset   int64 // where it begins, in bytes
	Database int

	Key []byte
	// ExpireAt is when the key expires, in ms since 1970; 0: never.
	ExpireAt int64
	Type     byte
	// Payload is the value, as RESTORE takes it.
	Payload []byte
	// Part counts the parts of a large collection from 0 on, and More says that another one follows. Each
	// holds some of the elements, in their order.
	Part int
	More bool
	// Reason says why there is no payload.
	Reason string
	// Metadata: modules have attached something to the key, which is not in the payload.
	Metadata bool

	Name, Value   []byte
	Keys, Expires uint64
}

// Config says how much memory reading may take.
type Config struct {
	// MaxString is the longest string, in bytes; default 512 MiB.
	MaxString int64
	// MaxPart is from how many bytes on a collection comes in parts; default 32 MiB.
	MaxPart int
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.MaxString <= 0 {
		c.MaxString = 512 << 20
	}
	if c.MaxPart <= 0 {
		c.MaxPart = 32 << 20
	}
}

// A Reader reads an RDB file. One goroutine uses it.
type Reader struct {
	scanner
	value   valueReader
	entry   Entry
	key     []byte
	texts   [2][]byte
	version int
	valkey  bool
	begun   bool
	err     error
}

// NewReader returns a Reader that has read nothing yet.
func NewReader(src io.Reader, cfg Config) *Reader {
	cfg.EnsureDefaults()
	r := &Reader{scanner: scanner{src: src, maxString: cfg.MaxString, kept: -1, sums: true}}
	r.value = valueReader{scanner: &r.scanner, maxPart: cfg.MaxPart}
	return r
}

// Version returns the RDB version, known after the first entry, and whether it counts as Valkey does.
func (r *Reader) Version() (version int, valkey bool) { return r.version, r.valkey }

// Offset is how many bytes have been read.
func (r *Reader) Offset() int64 { return r.offset() }

// Rest returns what follows the file in its source. The Reader must not be used after that.
func (r *Reader) Rest() io.Reader {
	return io.MultiReader(bytes.NewReader(bytes.Clone(r.buf[r.pos:r.end])), r.src)
}

// Next returns the next entry, and io.EOF after the last once the checksum has been found to be right. All
// other errors are an [Error]; they come again.
func (r *Reader) Next() (*Entry, error) {
	if r.err != nil {
		return nil, r.err
	}
	err := r.next()
	if err != nil {
		r.err = err
		return nil, err
	}
	return &r.entry, nil
}

func (r *Reader) next() error {
	if !r.begun {
		if err := r.header(); err != nil {
			return err
		}
		r.begun = true
	}
	if r.entry.More {
		r.entry.Part++
		return r.nextPart()
	}
	r.shrink()
	next := Entry{Offset: r.offset(), Database: r.entry.Database}
	if r.entry.Kind != Key {
		// KeyDB writes facts between what belongs to a key and the key.
		next.ExpireAt, next.Metadata = r.entry.ExpireAt, r.entry.Metadata
	}
	r.entry = next
	for {
		op, err := r.byte("type or opcode")
		if err != nil {
			return err
		}
		if op < opSlotImport {
			return r.beginKey(op)
		}
		done, err := r.opcode(op)
		if err != nil || done {
			return err
		}
	}
}

// header reads the magic and the version: REDIS and four digits, or VALKEY and three.
func (r *Reader) header() error {
	const size = 9
	if err := r.need(size, "header"); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) && !bytes.HasPrefix([]byte("REDIS"), r.buf[:min(r.end, 5)]) && !bytes.HasPrefix([]byte("VALKEY"), r.buf[:min(r.end, 6)]) {
			return r.fail("header", ErrMagic)
		}
		return err
	}
	head := r.buf[:size]
	var digits []byte
	switch {
	case bytes.HasPrefix(head, []byte("REDIS")):
		digits = head[5:]
	case bytes.HasPrefix(head, []byte("VALKEY")):
		digits, r.valkey = head[6:], true
	default:
		return r.failf("header", ErrMagic, "it begins with %q", head)
	}
	version, err := strconv.ParseUint(string(digits), 10, 16)
	if err != nil {
		return r.failf("header", ErrMagic, "its version is %q", digits)
	}
	r.version = int(version)
	known := r.version >= 1 && r.version <= MaxRedisVersion
	if r.valkey {
		known = r.version >= MinValkeyVersion && r.version <= MaxValkeyVersion
	}
	if !known {
		return r.failf("header", ErrVersion, "%s; the newest are %d of Redis and %d of Valkey", head, MaxRedisVersion, MaxValkeyVersion)
	}
	r.sums = r.version >= 5
	r.pos = size
	return nil
}

// opcode reads what belongs to an opcode. done says that it is an entry of its own.
func (r *Reader) opcode(op byte) (done bool, err error) {
	e := &r.entry
	switch op {
	case opEnd:
		return false, r.footer()
	case opSelect:
		n, err := r.length("number of a database")
		if err == nil && n > math.MaxInt32 {
			err = r.failf("number of a database", ErrFormat, "%d", n)
		}
		e.Database = int(n)
		return false, err
	case opExpireMillis:
		b, err := r.bytes(8, "expiry time")
		if err == nil {
			e.ExpireAt = int64(binary.LittleEndian.Uint64(b))
		}
		return false, err
	case opExpire:
		b, err := r.bytes(4, "expiry time")
		if err == nil {
			e.ExpireAt = int64(int32(binary.LittleEndian.Uint32(b))) * 1000
		}
		return false, err
	case opIdle:
		return false, r.lengths(1, "idle time")
	case opFreq:
		return false, r.skip(1, "frequency")
	case opSlotInfo:
		return false, r.lengths(3, "facts about a slot")
	case opSlotImport:
		if r.valkey {
			return false, r.slotImport()
		}
		e.Metadata = true
		return false, r.keyMetadata()
	case opResize:
		if e.Keys, err = r.length("number of keys"); err == nil {
			e.Expires, err = r.length("number of keys")
		}
		e.Kind = Size
		return true, err
	case opAux:
		e.Kind = Aux
		if e.Name, err = r.text(0, "name of a fact"); err == nil {
			e.Value, err = r.text(1, "fact")
		}
		return true, err
	case opFunction:
		e.Kind = Function
		e.Value, err = r.text(1, "functions")
		return true, err
	case opFunctionOld:
		e.Kind = Function
		return true, r.oldFunction()
	case opModuleAux:
		e.Kind = ModuleAux
		return true, r.moduleAux()
	}
	r.pos--
	return false, r.failf("", ErrUnknown, "%d", op)
}

// text reads a string into one of two buffers.
func (r *Reader) text(i int, within string) (text []byte, err error) {
	r.texts[i], err = r.string(r.texts[i][:0], within)
	return r.texts[i], err
}

func (r *Reader) beginKey(typ byte) (err error) {
	e := &r.entry
	e.Kind, e.Type = Key, typ
	if shapeOf(typ, r.valkey) == shapeUnknown {
		r.pos--
		return r.failf("", ErrUnknown, "%d", typ)
	}
	if r.key, err = r.string(r.key[:0], "key"); err != nil {
		return err
	}
	e.Key = r.key
	if err := r.value.begin(typ, r.valkey, fmt.Sprintf("value of key %.100q", r.key)); err != nil {
		return err
	}
	return r.nextPart()
}

func (r *Reader) nextPart() (err error) {
	e := &r.entry
	e.Payload, e.Reason, e.More, err = r.value.next()
	return err
}

func (r *Reader) slotImport() error {
	if err := r.skipString("import of slots"); err != nil {
		return err
	}
	n, err := r.length("import of slots")
	for ; n > 0 && err == nil; n-- {
		err = r.lengths(2, "import of slots")
	}
	return err
}

// keyMetadata reads what modules have attached to the next key.
func (r *Reader) keyMetadata() error {
	const within = "metadata of a key"
	n, err := r.length(within)
	for ; n > 0 && err == nil; n-- {
		if err = r.skip(4, within); err == nil { // which kind of metadata
			err = r.modulePieces(within)
		}
	}
	return err
}

func (r *Reader) oldFunction() error {
	const within = "functions"
	name, err := r.text(0, within)
	if err == nil {
		err = r.skipString(within) // engine
	}
	if err != nil {
		return err
	}
	described, err := r.length(within)
	if err != nil {
		return err
	}
	if err := r.skipStrings(1+min(described, 1), within); err != nil {
		return err
	}
	r.entry.Name, r.entry.Reason = name, fmt.Sprintf("library %q of functions in the form of a preview of Redis 7.0", name)
	return nil
}

func (r *Reader) moduleAux() error {
	id, err := r.length("data of a module")
	if err != nil {
		return err
	}
	name := rdb.ModuleTypeOf(id).String()
	r.entry.Reason = "data of module " + name
	if err := r.lengths(2, r.entry.Reason); err != nil { // when it is to be loaded
		return err
	}
	return r.modulePieces(r.entry.Reason)
}

// footer reads the checksum. Zero means that none was made.
func (r *Reader) footer() error {
	if !r.sums {
		return io.EOF
	}
	r.addSum()
	sum := r.sum
	r.sums = false
	b, err := r.bytes(8, "checksum")
	if err != nil {
		return err
	}
	if said := binary.LittleEndian.Uint64(b); said != 0 && said != sum {
		r.pos -= 8
		return r.failf("checksum", ErrChecksum, "%016x, and the file has %016x", said, sum)
	}
	return io.EOF
}

// Split returns an entry, or several, for a payload of DUMP, of any RDB version that is known: with the
// type, the payload, part, more and reason. The payloads are of a version that Ringside and Redis 7.2 take.
// yield must not keep the entry.
func Split(payload []byte, cfg Config, yield func(*Entry) error) error {
	cfg.EnsureDefaults()
	body, version, err := rdb.OpenAny(payload)
	if err != nil {
		return err
	}
	if version > MaxRedisVersion && version < MinValkeyVersion || version > MaxValkeyVersion {
		return fmt.Errorf("%w: %d", ErrVersion, version)
	}
	r := Reader{scanner: scanner{src: bytes.NewReader(nil), maxString: cfg.MaxString, kept: -1, buf: body, end: len(body)}}
	r.value = valueReader{scanner: &r.scanner, maxPart: cfg.MaxPart}
	typ, err := r.byte("type")
	if err == nil && typ == opSlotImport && version < MinValkeyVersion {
		r.entry.Metadata = true
		if err = r.keyMetadata(); err == nil {
			typ, err = r.byte("type")
		}
	}
	if err == nil {
		err = r.value.begin(typ, version >= MinValkeyVersion, "value")
	}
	if err != nil {
		return err
	}
	r.entry.Type = typ
	for {
		if err := r.nextPart(); err != nil {
			return err
		}
		if !r.entry.More {
			if err := rdb.CheckEnd(r.buf[r.pos:r.end]); err != nil {
				return r.failf("value", ErrFormat, "%v", err)
			}
		}
		if err := yield(&r.entry); err != nil || !r.entry.More {
			return err
		}
		r.entry.Part++
	}
}
