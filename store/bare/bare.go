package bare

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/tuning"
)

// BatchOps is how many writes a batch has at most, as many as a backup applies at once.
const BatchOps = 256

// A DB takes strings under keys of its own choice. It belongs to one goroutine.
type DB struct {
	pebble  *pebble.DB
	keys    [][]byte
	value   []byte
	rnd     *rand.Rand
	batches uint64
}

// Open makes a DB in an empty directory, for so many keys and values of so many bytes. The
// caller closes it.
func Open(dir string, keys, size int) (*DB, error) {
	cache := pebble.NewCache(8 << 20)
	defer cache.Unref()
	opts := &pebble.Options{Cache: cache, Logger: quiet{}, ErrorIfExists: true}
	tuning.Set(opts, tuning.MemTable)
	p, err := pebble.Open(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("open a bare Pebble: %w", err)
	}
	db := &DB{pebble: p, rnd: rand.New(rand.NewPCG(1, 2)), value: make([]byte, headerBytes+size)}
	for i := range keys {
		// Kind, place, length and name, as package store has them; places are random.
		key := binary.BigEndian.AppendUint64([]byte{'d'}, db.rnd.Uint64())
		key = append(key, nameBytes)
		db.keys = append(db.keys, fmt.Appendf(key, "key:%08d", i))
	}
	return db, nil
}

const (
	nameBytes   = 12
	headerBytes = 2 // of a string
)

// Set writes n strings, in one batch, under random keys. They are in the log when it returns,
// or soon after.
func (db *DB) Set(n int) error {
	b := db.pebble.NewBatch()
	for range n {
		if len(db.value) > headerBytes {
			db.value[headerBytes+db.rnd.IntN(len(db.value)-headerBytes)]++
		}
		_ = b.Set(db.keys[db.rnd.IntN(len(db.keys))], db.value, nil) // a batch takes anything
	}
	db.batches++ // each has an entry of counts
	_ = b.Set(binary.BigEndian.AppendUint64([]byte{'j'}, db.batches), db.value[:headerBytes], nil)
	if err := db.pebble.Apply(b, pebble.NoSync); err != nil {
		return fmt.Errorf("write to a bare Pebble: %w", err)
	}
	return b.Close()
}

// Close closes the DB.
func (db *DB) Close() error { return db.pebble.Close() }

// Serve does as many writes as it is told to, until there is an end of what it is told: r has
// numbers of 8 B LE, each how many there are to be in all, and so has w how many there are.
func (db *DB) Serve(r io.Reader, w io.Writer) error {
	var told [8]byte
	for done := uint64(0); ; {
		switch _, err := io.ReadFull(r, told[:]); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
		for want := binary.LittleEndian.Uint64(told[:]); done < want; {
			n := min(want-done, BatchOps)
			if err := db.Set(int(n)); err != nil {
				return err
			}
			done += n
			var is [8]byte
			binary.LittleEndian.PutUint64(is[:], done)
			if _, err := w.Write(is[:]); err != nil {
				return err
			}
		}
	}
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

// Fatalf implements pebble.Logger: there is no going on.
func (quiet) Fatalf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	slog.Error(text)
	panic(text)
}
