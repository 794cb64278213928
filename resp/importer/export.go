package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/internal/moment"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// An ExportConfig says what an RDB file is to hold. Only Source.Addrs must be given.
type ExportConfig struct {
	// Source is the cluster of Ringside that the keys come from.
	Source client.Config
	// Filter chooses keys, and the numbers that databases have in the file.
	Filter Filter
	// Version is the RDB version, 9 to 14; default 10, which Redis 7.0 and all later ones read.
	Version int
	// Scan reads the keys one by one, and the file is of no one moment then. It works where nodes cannot agree
	// on a moment, and needs no right to RING BACKUP.
	Scan bool
	// RetryFor is how long a read of Scan is tried again that fails for now; default 5 minutes.
	RetryFor time.Duration
	Stats    *Stats
}

// ErrNotRingside reports that the source is another server: it has no moment of several nodes, and its SCAN may return
// a key twice, which no RDB file may hold.
var ErrNotRingside = errors.New("the source is no Ringside; use SAVE, or import --from, for Redis and Valkey")

// Export writes all keys of a cluster to an RDB file, as they were at one moment, which it returns. With cfg.Scan there
// is no moment: keys that change meanwhile may be as before or after, those that come or go meanwhile may be in the
// file or not.
func Export(ctx context.Context, out io.Writer, cfg ExportConfig) (*Moment, error) {
	if cfg.Version == 0 {
		cfg.Version = 10
	}
	if cfg.Stats == nil {
		cfg.Stats = new(Stats)
	}
	if cfg.RetryFor <= 0 {
		cfg.RetryFor = 5 * time.Minute
	}
	if cfg.Source.Route == "" {
		cfg.Source.Route = client.Forward // any node knows the others, and SCAN covers the cluster
	}
	w, err := rdbfile.NewWriter(out, cfg.Version)
	if err != nil {
		return nil, err
	}
	e := exporter{cfg: &cfg, source: newCluster(cfg.Source), out: w, most: patience{most: cfg.RetryFor}}
	defer e.source.close()
	cfg.Stats.enter("export")
	m, err := e.run(ctx)
	if err != nil {
		return nil, err
	}
	return m, w.Close()
}

// functionVersion is the first RDB version with functions.
const functionVersion = 10

type exporter struct {
	cfg    *ExportConfig
	source *cluster
	out    *rdbfile.Writer
	most   patience
}

// isRingside reports whether a reply to INFO is of Ringside.
func isRingside(info string) bool { return strings.Contains(info, "ringside_version:") }

func (e *exporter) run(ctx context.Context) (*Moment, error) {
	ring, err := e.source.ring(ctx, 0)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	reply, err := must(ctx, ring, e.most.most, []byte("INFO"), []byte("server"))
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	if text, _ := reply.Text(); !isRingside(text) {
		return nil, ErrNotRingside
	}
	if e.cfg.Scan {
		return nil, e.scan(ctx, ring)
	}
	return e.moment(ctx, ring)
}

// functions writes the libraries of functions. It is called before keys are written.
func (e *exporter) functions(ctx context.Context, ring *client.Ring) error {
	codes, err := moment.Libraries(ctx, ring)
	var refused *client.ServerError
	if err != nil && !errors.As(err, &refused) {
		return fmt.Errorf("source: functions: %w", err)
	}
	if err == nil && len(codes) > 0 && e.cfg.Version < functionVersion {
		err = fmt.Errorf("an RDB file has them from version %d on", functionVersion)
	}
	if err != nil {
		e.cfg.Stats.lose(Loss{Key: "functions", Reason: fmt.Sprintf("functions: %v", err), NoKey: true})
		return nil
	}
	for _, code := range codes {
		if err := e.out.Function(code); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

// head writes facts about the file. It was created at a time in seconds since 1970.
func (e *exporter) head(created int64) error {
	for _, fact := range [][2]string{
		{"redis-ver", "7.0.0"}, {"redis-bits", "64"}, {"ctime", strconv.FormatInt(created, 10)}, {"made-by", "ringside"},
	} {
		if err := e.out.Aux(fact[0], fact[1]); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

// scan writes the keys of all databases as they are found.
func (e *exporter) scan(ctx context.Context, ring *client.Ring) error {
	all, err := databasesOf(ctx, ring, e.most)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if err := e.head(time.Now().Unix()); err != nil {
		return err
	}
	if err := e.functions(ctx, ring); err != nil {
		return err
	}
	slices.Sort(all)
	for _, n := range all {
		if m, ok := e.cfg.Filter.database(n); ok {
			if err := e.database(ctx, n, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// database writes the keys of a database.
func (e *exporter) database(ctx context.Context, n, m int) error {
	ring, err := e.source.ring(ctx, n)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	average := 0
	return scan(ctx, ring, &e.cfg.Filter, e.most, func(keys [][]byte) error {
		for len(keys) > 0 {
			chunk := keys[:min(len(keys), max(1, min(copyKeys, copyBytes/max(1, average))))]
			keys = keys[len(chunk):]
			values, err := values(ctx, ring, chunk, true, e.most)
			if err != nil {
				return fmt.Errorf("source: %w", err)
			}
			for i, v := range values {
				average = (7*average + len(v.payload)) / 8
				if err := e.key(n, m, chunk[i], v); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (e *exporter) key(n, m int, key []byte, v sideValue) error {
	if v.payload == nil {
		return nil // gone since
	}
	err := e.out.Key(m, key, v.payload, v.expireAt)
	if errors.Is(err, rdbfile.ErrVersion) {
		e.cfg.Stats.lose(Loss{Database: n, Key: string(key), Reason: err.Error()})
		return nil
	}
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	e.cfg.Stats.keys.Add(1)
	e.cfg.Stats.bytes.Add(int64(len(v.payload)))
	return nil
}
