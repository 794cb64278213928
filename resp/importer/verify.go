package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// A Difference is a key that the two sides have with other values, or only one of them has.
type Difference struct {
	Database int // of the source
	Key      string
	Reason   string
}

// String is a line for a report.
func (d Difference) String() string {
	return fmt.Sprintf("database %d, key %q: %s", d.Database, d.Key, d.Reason)
}

// A Comparison is what a comparison has found.
type Comparison struct {
	// Keys were compared, of both sides.
	Keys int64
	// Different counts those that differ, and Differences lists them, as far as there is room.
	Different   int64
	Differences []Difference
}

// A verifier compares the keys of a source with those of the target.
type verifier struct {
	cfg            *FollowConfig
	source, target *cluster
	isNew          bool
	result         Comparison
	open           []place // keys that differed when they were last compared
	most           patience
}

// A sideValue is what one side has at a key.
type sideValue struct {
	payload  []byte // nil: the key does not exist
	expireAt int64
}

// recheckRounds is how often keys are compared again that differed: they may have changed in between, or
// the change may be on its way.
const recheckRounds = 8

// Verify compares all keys of the source and the target that the filter takes: types, values whatever their
// encoding, and expiry times. Nothing is written. While clients write to the source, keys are compared again that
// differ, and those that still do may be ones that change all the time.
func Verify(ctx context.Context, cfg FollowConfig) (*Comparison, error) {
	cfg.EnsureDefaults()
	v := &verifier{cfg: &cfg, source: newCluster(cfg.Source), target: newCluster(cfg.Target), most: patience{most: cfg.RetryFor}}
	defer v.source.close()
	defer v.target.close()
	cfg.Stats.enter("compare")
	if err := v.run(ctx); err != nil {
		return nil, err
	}
	return &v.result, nil
}

func (v *verifier) run(ctx context.Context) error {
	source, err := v.source.ring(ctx, 0)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	target, err := v.target.ring(ctx, 0)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	if v.isNew, err = knowsExpireTime(ctx, source, v.most); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	sources, err := databasesOf(ctx, source, v.most)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	targets, err := databasesOf(ctx, target, v.most)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	for n := range v.cfg.Filter.Databases {
		sources = append(sources, n)
	}
	if v.cfg.Filter.Databases == nil {
		sources = append(sources, targets...)
	}
	slices.Sort(sources)
	for _, n := range slices.Compact(sources) {
		if err := v.database(ctx, n); err != nil {
			return err
		}
	}
	return v.recheck(ctx)
}

// database compares the keys of the source's database n, and then those that only the target has.
func (v *verifier) database(ctx context.Context, n int) error {
	m, ok := v.cfg.Filter.database(n)
	if !ok {
		return nil
	}
	source, err := v.source.ring(ctx, n)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	target, err := v.target.ring(ctx, m)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	err = scan(ctx, source, &v.cfg.Filter, v.most, func(keys [][]byte) error {
		for chunk := range slices.Chunk(keys, copyKeys) {
			v.result.Keys += int64(len(chunk))
			v.cfg.Stats.keys.Add(int64(len(chunk)))
			different, err := v.compare(ctx, source, target, chunk)
			if err != nil {
				return err
			}
			for _, d := range different {
				v.open = append(v.open, place{n, d.Key})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if v.cfg.Merge {
		return nil
	}
	return scan(ctx, target, &v.cfg.Filter, v.most, func(keys [][]byte) error {
		gone, err := absent(ctx, source, v.most, keys)
		for _, key := range gone {
			v.open = append(v.open, place{n, string(key)})
		}
		return err
	})
}

// recheck compares keys again that differed, and lists those that still differ.
func (v *verifier) recheck(ctx context.Context) error {
	p := v.most
	for round := 0; len(v.open) > 0; round++ {
		var still []place
		var found []Difference
		for len(v.open) > 0 {
			n, keys := v.open[0].database, [][]byte{}
			for len(v.open) > 0 && v.open[0].database == n && len(keys) < copyKeys {
				keys = append(keys, []byte(v.open[0].key))
				v.open = v.open[1:]
			}
			m, _ := v.cfg.Filter.database(n)
			source, err := v.source.ring(ctx, n)
			if err != nil {
				return fmt.Errorf("source: %w", err)
			}
			target, err := v.target.ring(ctx, m)
			if err != nil {
				return fmt.Errorf("target: %w", err)
			}
			different, err := v.compare(ctx, source, target, keys)
			if err != nil {
				return err
			}
			for _, d := range different {
				d.Database = n
				found = append(found, d)
				still = append(still, place{n, d.Key})
			}
		}
		if round == recheckRounds || len(still) == 0 {
			v.result.Different = int64(len(found))
			v.result.Differences = found[:min(len(found), maxLosses)]
			return nil
		}
		v.open = still
		if err := p.wait(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// compare returns the keys that differ.
func (v *verifier) compare(ctx context.Context, source, target *client.Ring, keys [][]byte) (different []Difference, err error) {
	ours, err := values(ctx, source, keys, v.isNew, v.most)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	theirs, err := values(ctx, target, keys, true, v.most)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	for i, key := range keys {
		if reason := differ(ours[i], theirs[i], v.isNew); reason != "" {
			different = append(different, Difference{Key: string(key), Reason: reason})
		}
	}
	return different, nil
}

// values reads keys.
func values(ctx context.Context, r *client.Ring, keys [][]byte, isNew bool, p patience) ([]sideValue, error) {
	c := copier{isNew: isNew, cfg: &Config{RetryFor: p.most}}
	for _, key := range keys {
		c.keys = append(c.keys, &tracked{place: place{key: string(key)}})
	}
	replies, now, err := c.read(ctx, r)
	if err != nil {
		return nil, err
	}
	all := make([]sideValue, len(keys))
	for i := range all {
		all[i].payload, all[i].expireAt = valueOf(replies[2*i], replies[2*i+1], now)
	}
	return all, nil
}

// slack is how far expiry times may lie apart that were read by PTTL and TIME, in ms.
const slack = 1000

// differ says how two copies of a key differ; empty if they do not.
func differ(a, b sideValue, exact bool) string {
	switch {
	case a.payload == nil && b.payload == nil:
		return ""
	case a.payload == nil:
		return "only the target has it"
	case b.payload == nil:
		return "the target does not have it"
	}
	apart := max(a.expireAt-b.expireAt, b.expireAt-a.expireAt)
	if apart != 0 && (exact || apart > slack || a.expireAt == 0 || b.expireAt == 0) {
		return fmt.Sprintf("expires %s at the source, %s at the target", timeText(a.expireAt), timeText(b.expireAt))
	}
	const footer = 10 // version and checksum
	if len(a.payload) == len(b.payload) && len(a.payload) > footer && bytes.Equal(a.payload[:len(a.payload)-footer], b.payload[:len(b.payload)-footer]) {
		return ""
	}
	x, xShort, err := digestOf(a.payload, false)
	if err != nil {
		return fmt.Sprintf("the value of the source cannot be compared: %v", err)
	}
	y, yShort, err := digestOf(b.payload, false)
	if err != nil {
		return fmt.Sprintf("the value of the target cannot be compared: %v", err)
	}
	if xShort != yShort { // one side does not know all that the other one does; both could be read above
		x, _, _ = digestOf(a.payload, true)
		y, _, _ = digestOf(b.payload, true)
	}
	if x != y {
		return "the values differ"
	}
	return ""
}

func timeText(ms int64) string {
	if ms == 0 {
		return "never"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// VerifyFile compares the keys of an RDB file with the target. Keys that only the target has are no difference.
func VerifyFile(ctx context.Context, src io.Reader, cfg Config) (*Comparison, error) {
	cfg.EnsureDefaults()
	cfg.RDB.MaxPart = math.MaxInt
	target := newCluster(cfg.Target)
	defer target.close()
	cfg.Stats.enter("compare")
	f := fileVerifier{cfg: &cfg, target: target}
	r := rdbfile.NewReader(src, cfg.RDB)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return &f.result, f.flush(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("read RDB: %w", err)
		}
		cfg.Stats.read.Store(r.Offset())
		if err := f.entry(ctx, e); err != nil {
			return nil, err
		}
	}
}

// A fileVerifier compares entries of a file, batch by batch.
type fileVerifier struct {
	cfg      *Config
	target   *cluster
	result   Comparison
	database int // of the batch, in the file
	keys     [][]byte
	values   []sideValue
	bytes    int
}

func (f *fileVerifier) entry(ctx context.Context, e *rdbfile.Entry) error {
	_, ok := f.cfg.Filter.database(e.Database)
	if e.Kind != rdbfile.Key || !ok || !f.cfg.Filter.takes(e.Key, f.cfg.Stats) {
		return nil
	}
	if e.Database != f.database || len(f.keys) >= copyKeys || f.bytes >= copyBytes {
		if err := f.flush(ctx); err != nil {
			return err
		}
		f.database = e.Database
	}
	f.result.Keys++
	f.cfg.Stats.keys.Add(1)
	if e.Payload == nil {
		f.differ(string(e.Key), e.Reason)
		return nil
	}
	v := sideValue{bytes.Clone(e.Payload), e.ExpireAt}
	if e.ExpireAt != 0 && e.ExpireAt <= time.Now().UnixMilli() {
		v = sideValue{}
	}
	f.keys, f.values = append(f.keys, bytes.Clone(e.Key)), append(f.values, v)
	f.bytes += len(e.Payload)
	return nil
}

func (f *fileVerifier) differ(key, reason string) {
	f.result.Different++
	if len(f.result.Differences) < maxLosses {
		f.result.Differences = append(f.result.Differences, Difference{f.database, key, reason})
	}
}

func (f *fileVerifier) flush(ctx context.Context) error {
	if len(f.keys) == 0 {
		return nil
	}
	m, _ := f.cfg.Filter.database(f.database)
	ring, err := f.target.ring(ctx, m)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	theirs, err := values(ctx, ring, f.keys, true, patience{most: f.cfg.RetryFor})
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	for i, key := range f.keys {
		if reason := differ(f.values[i], theirs[i], true); reason != "" {
			f.differ(string(key), strings.NewReplacer("at the source", "in the file", "the source", "the file").Replace(reason))
		}
	}
	f.keys, f.values, f.bytes = f.keys[:0], f.values[:0], 0
	return nil
}
