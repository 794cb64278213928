package boltpages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// A Damage says how the pages contradict each other.
type Damage string

// Error implements error.
func (d Damage) Error() string { return string(d) }

// Check reads a file and returns a [Damage] if its pages contradict each other. An empty file is
// right.
//
// A page is a head (number 8 B | kind 2 B | count 2 B | further pages of it 4 B) and its
// elements; the file's format 2, in the byte order of the machine.
func Check(path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return nil
	}
	p := &pages{path: path, file: f, size: info.Size()}
	if err := p.readRoot(); err != nil {
		return err
	}
	return p.check()
}

const (
	pageHeadSize    = 16
	pageElementSize = 16

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	bucketElement = 0x01
)

func damage(format string, args ...any) Damage { return Damage(fmt.Sprintf(format, args...)) }

type pages struct {
	path string
	file *os.File
	size int64

	pageSize              int64
	root, freelist, limit uint64 // limit is the number of pages
	used                  map[uint64]bool
}

// readRoot takes the newer of the two roots that are right, as bbolt does.
func (p *pages) readRoot() error {
	const rootSize = 64
	newest, found := uint64(0), false
	b := make([]byte, rootSize)
	for _, at := range p.rootOffsets() {
		if _, err := p.file.ReadAt(b, at+pageHeadSize); errors.Is(err, io.EOF) {
			continue
		} else if err != nil {
			return fmt.Errorf("read %s: %w", p.path, err)
		}
		sum := fnv.New64a()
		_, _ = sum.Write(b[:rootSize-8])
		native := binary.NativeEndian
		if native.Uint32(b) != 0xED0CDAED || native.Uint32(b[4:]) != 2 || native.Uint64(b[rootSize-8:]) != sum.Sum64() {
			continue
		}
		if tx := native.Uint64(b[48:]); !found || tx > newest {
			newest, found = tx, true
			p.pageSize = int64(native.Uint32(b[8:]))
			p.root, p.freelist, p.limit = native.Uint64(b[16:]), native.Uint64(b[32:]), native.Uint64(b[40:])
		}
	}
	switch {
	case !found:
		return damage("neither of its two roots is right")
	case p.pageSize < 512 || p.limit > uint64(p.size/p.pageSize):
		return damage("it has %d bytes, %d pages of %d bytes should be there", p.size, p.limit, p.pageSize)
	}
	return nil
}

// rootOffsets are where a root may lie: on the first page, and on the second one of
// whatever size.
func (p *pages) rootOffsets() []int64 {
	at := []int64{0}
	for size := int64(512); size <= 64<<10; size *= 2 {
		at = append(at, size)
	}
	return at
}

func (p *pages) check() error {
	p.used = map[uint64]bool{0: true, 1: true}
	if err := p.bucket(p.root); err != nil {
		return err
	}
	if p.freelist != ^uint64(0) {
		if err := p.free(); err != nil {
			return err
		}
	}
	for id := range p.limit {
		if !p.used[id] && p.freelist != ^uint64(0) {
			return damage("page %d is neither in use nor free", id)
		}
	}
	return nil
}

// page reads a page with all that belongs to it, and notes that it is in use.
func (p *pages) page(id uint64) (kind uint16, count int, b []byte, err error) {
	head := make([]byte, pageHeadSize)
	if id >= p.limit {
		return 0, 0, nil, damage("page %d of %d is referred to", id, p.limit)
	}
	if _, err := p.file.ReadAt(head, int64(id)*p.pageSize); err != nil {
		return 0, 0, nil, fmt.Errorf("read %s: %w", p.path, err)
	}
	native := binary.NativeEndian
	further := uint64(native.Uint32(head[12:]))
	if native.Uint64(head) != id || id+further >= p.limit {
		return 0, 0, nil, damage("page %d has the head of another one", id)
	}
	for i := id; i <= id+further; i++ {
		if p.used[i] {
			return 0, 0, nil, damage("page %d is referred to twice", i)
		}
		p.used[i] = true
	}
	b = make([]byte, int64(further+1)*p.pageSize)
	if _, err := p.file.ReadAt(b, int64(id)*p.pageSize); err != nil {
		return 0, 0, nil, fmt.Errorf("read %s: %w", p.path, err)
	}
	return native.Uint16(head[8:]), int(native.Uint16(head[10:])), b, nil
}

// bucket checks the pages of a bucket.
func (p *pages) bucket(root uint64) error { return p.tree(root, nil, nil) }

// tree checks a page and those below it, whose keys are from least on and before end.
func (p *pages) tree(id uint64, least, end []byte) error {
	kind, count, b, err := p.page(id)
	if err != nil {
		return err
	}
	switch kind {
	case leafPage:
		return p.leaf(id, b, count, least, end)
	case branchPage:
	default:
		return damage("page %d is of kind %#x", id, kind)
	}
	if count == 0 {
		return damage("page %d leads nowhere", id)
	}
	keys, below := make([][]byte, count), make([]uint64, count)
	for i := range count {
		at := pageHeadSize + i*pageElementSize
		if at+pageElementSize > len(b) {
			return damage("page %d has no room for %d elements", id, count)
		}
		native := binary.NativeEndian
		key, ok := piece(b, at, native.Uint32(b[at:]), native.Uint32(b[at+4:]))
		if !ok || !ordered(least, key, end) || i > 0 && bytes.Compare(keys[i-1], key) >= 0 {
			return damage("page %d has a key that cannot be there", id)
		}
		keys[i], below[i] = key, native.Uint64(b[at+8:])
	}
	for i := range count {
		until := end
		if i+1 < count {
			until = keys[i+1]
		}
		if err := p.tree(below[i], keys[i], until); err != nil {
			return err
		}
	}
	return nil
}

func (p *pages) leaf(id uint64, b []byte, count int, least, end []byte) error {
	var before []byte
	for i := range count {
		at := pageHeadSize + i*pageElementSize
		if at+pageElementSize > len(b) {
			return damage("page %d has no room for %d elements", id, count)
		}
		native := binary.NativeEndian
		flags, pos, size := native.Uint32(b[at:]), native.Uint32(b[at+4:]), native.Uint32(b[at+8:])
		key, ok := piece(b, at, pos, size)
		value, whole := piece(b, at+int(size), pos, native.Uint32(b[at+12:]))
		if !ok || !whole || flags&^bucketElement != 0 || !ordered(least, key, end) || i > 0 && bytes.Compare(before, key) >= 0 {
			return damage("page %d has an element that cannot be there", id)
		}
		before = key
		if flags&bucketElement == 0 {
			continue
		}
		const inline = 16 // a bucket's root and a number, before a page of its own
		switch {
		case len(value) < inline:
			return damage("page %d has a bucket of %d bytes", id, len(value))
		case native.Uint64(value) != 0:
			if err := p.bucket(native.Uint64(value)); err != nil {
				return err
			}
		case len(value) < inline+pageHeadSize || native.Uint16(value[inline+8:]) != leafPage:
			return damage("page %d has a bucket that is none", id)
		default:
			page := value[inline:]
			if err := p.leaf(id, page, int(native.Uint16(page[10:])), nil, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// free checks the list of free pages.
func (p *pages) free() error {
	kind, count, b, err := p.page(p.freelist)
	if err != nil {
		return err
	}
	b = b[pageHeadSize:]
	number := uint64(count)
	if count == 0xFFFF {
		number, b = binary.NativeEndian.Uint64(b), b[8:]
	}
	if kind != freelistPage || number > uint64(len(b)/8) {
		return damage("the list of free pages is none")
	}
	for i := range number {
		id := binary.NativeEndian.Uint64(b[i*8:])
		if id >= p.limit || p.used[id] {
			return damage("page %d is in use and free", id)
		}
		p.used[id] = true
	}
	return nil
}

// piece is a part of a page that an element at some offset refers to.
func piece(b []byte, at int, pos, size uint32) ([]byte, bool) {
	from := int64(at) + int64(pos)
	if from+int64(size) > int64(len(b)) {
		return nil, false
	}
	return b[from : from+int64(size)], true
}

func ordered(least, key, end []byte) bool {
	return bytes.Compare(least, key) <= 0 && (end == nil || bytes.Compare(key, end) < 0)
}
