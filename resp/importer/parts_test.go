package importer_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/client"
	. "github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/store/rdb"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// inParts has collections come in several parts.
var inParts = rdbfile.Config{MaxPart: 500}

// collections returns payloads of several parts, by type.
func collections() map[rdb.Type][]byte {
	const n = 500
	all := map[rdb.Type][]byte{
		rdb.List: rdb.BeginList(nil, n), rdb.Set: rdb.BeginSet(nil, n), rdb.Hash: rdb.BeginHash(nil, n), rdb.SortedSet: rdb.BeginSortedSet(nil, n),
	}
	for t, payload := range all {
		for i := range n {
			payload = rdb.AppendElement(payload, fmt.Append(nil, "element ", i))
			switch t {
			case rdb.Hash:
				payload = rdb.AppendElement(payload, fmt.Append(nil, "value ", i))
			case rdb.SortedSet:
				payload = rdb.AppendScore(payload, float64(i))
			}
		}
		all[t] = rdb.Seal(payload, 0)
	}
	return all
}

func TestLoadOfExpiredCollectionInPartsLeavesNothing(t *testing.T) {
	target := startTarget(t)
	var file bytes.Buffer
	w, err := rdbfile.NewWriter(&file, 11)
	if err != nil {
		t.Fatal(err)
	}
	all := collections()
	for kind, payload := range all {
		if err := w.Key(0, fmt.Append(nil, kind), payload, 1000); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	stats := new(Stats)
	if err := Load(t.Context(), &file, Config{Target: targetConfig(target), Stats: stats, RDB: inParts}); err != nil {
		t.Fatal(err)
	}
	if keys := do(t, target, "KEYS *").([]any); len(keys) > 0 {
		t.Errorf("keys %v are there", keys)
	}
	if c := stats.Counts(); c.Expired != int64(len(all)) || c.Keys != int64(len(all)) || c.Lost != 0 {
		t.Errorf("%+v", c)
	}
}

func TestCollectionThatExpiresBetweenPartsLeavesNothing(t *testing.T) {
	ring, err := client.Open(t.Context(), targetConfig(startTarget(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer ring.Close()
	for kind, payload := range collections() {
		stats := new(Stats)
		write := WriteParts(t.Context(), ring, stats)
		exists := func() bool {
			n, err := ring.Do(t.Context(), "EXISTS", fmt.Sprint(kind)).Int()
			if err != nil {
				t.Fatal(err)
			}
			return n > 0
		}
		expireAt := time.Now().Add(time.Hour).UnixMilli()
		err := rdbfile.Split(payload, inParts, func(e *rdbfile.Entry) error {
			e.Key, e.ExpireAt = fmt.Append(nil, kind), expireAt
			err := write(e)
			if e.Part == 0 {
				if !exists() || !e.More {
					t.Errorf("%s: the first part is not there, or all", kind)
				}
				expireAt = time.Now().Add(20 * time.Millisecond).UnixMilli()
				ring.Do(t.Context(), "PEXPIREAT", fmt.Sprint(kind), fmt.Sprint(expireAt))
				resptest.WaitFor(t, "expiry", func() bool { return !exists() })
			}
			return err
		})
		if c := stats.Counts(); err != nil || exists() || c.Lost != 0 {
			t.Errorf("%s: %+v, %v, exists: %v", kind, c, err, exists())
		}
	}
}

func TestCollectionHasItsExpiryWhereTheFieldsOfItsFirstPartHaveExpired(t *testing.T) {
	target := startTarget(t)
	const fields = 500
	now := time.Now()
	first := now.Add(time.Minute).UnixMilli()
	hash := rdb.BeginTimedHash(nil, fields, first)
	for i := range fields {
		expiry := first
		if i == fields-1 {
			expiry = 0
		}
		hash = rdb.AppendExpiry(hash, first, expiry)
		hash = rdb.AppendElement(rdb.AppendElement(hash, fmt.Append(nil, "field ", i)), []byte("value"))
	}
	var file bytes.Buffer
	w, err := rdbfile.NewWriter(&file, rdb.TimedVersion)
	if err != nil {
		t.Fatal(err)
	}
	expireAt := now.Add(10 * time.Hour).UnixMilli()
	if err := w.Key(0, []byte("hash"), rdb.SealAs(hash, 0, rdb.TimedVersion), expireAt); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	shift := -time.Hour
	if err := Load(t.Context(), &file, Config{Target: targetConfig(target), RDB: inParts, Shift: shift}); err != nil {
		t.Fatal(err)
	}
	if n, at := do(t, target, "HLEN hash"), do(t, target, "PEXPIRETIME hash"); n != int64(1) || at != expireAt+shift.Milliseconds() {
		t.Errorf("%v fields, expiry %v, want %v", n, at, expireAt+shift.Milliseconds())
	}
}

func TestKeyInPartsOfAnotherDatabaseCountsOnce(t *testing.T) {
	target := startTarget(t)
	var file bytes.Buffer
	w, err := rdbfile.NewWriter(&file, 11)
	if err != nil {
		t.Fatal(err)
	}
	all := collections()
	for kind, payload := range all {
		if err := w.Key(0, fmt.Append(nil, kind), payload, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	stats := new(Stats)
	cfg := Config{Target: targetConfig(target), Stats: stats, RDB: inParts, Filter: Filter{Databases: map[int]int{3: 3}}}
	if err := Load(t.Context(), &file, cfg); err != nil {
		t.Fatal(err)
	}
	if c := stats.Counts(); c.Filtered != int64(len(all)) {
		t.Errorf("%+v, want %d keys left out", c, len(all))
	}
}
