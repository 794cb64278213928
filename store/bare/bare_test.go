package bare

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

func TestServeWritesRequestedKeys(t *testing.T) {
	db, err := Open(t.TempDir(), 5000, 64)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	var told, did bytes.Buffer
	for _, n := range []uint64{0, 1, 300, 300, 2000} {
		_ = binary.Write(&told, binary.LittleEndian, n)
	}
	if err := db.Serve(&told, &did); err != nil {
		t.Fatal(err)
	}
	var last uint64
	for did.Len() > 0 {
		var n uint64
		if err := binary.Read(&did, binary.LittleEndian, &n); err != nil {
			t.Fatal(err)
		}
		if n <= last || n-last > BatchOps {
			t.Errorf("%d writes after %d", n, last)
		}
		last = n
	}
	if last != 2000 {
		t.Errorf("%d writes", last)
	}
	iter, err := db.pebble.NewIter(&pebble.IterOptions{LowerBound: []byte{'d'}, UpperBound: []byte{'e'}})
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for ok := iter.First(); ok; ok = iter.Next() {
		keys++
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	if keys < 1400 || keys > 1900 { // 2000 draws of 5000 are 1648 on average
		t.Errorf("%d keys", keys)
	}
	if _, err := Open(t.TempDir()+"/none/at/all\x00", 1, 1); err == nil {
		t.Error("opened where nothing can be")
	}
}
