package node

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// asideDir is where, in a node's directory, lies what was put aside.
const asideDir = "aside"

// A staleDataSaver saves data of ranges that were recreated elsewhere, in files of RESTORE
// commands. redis-cli --pipe restores the keys that have no newer value.
type staleDataSaver struct {
	store    *store.Store
	dir      string
	lineages *lineages
	order    func() (*database.Order, error) // of the databases, now
	logger   *slog.Logger
}

// SetLineage implements replica.Lineages.
func (a *staleDataSaver) SetLineage(r ring.Range, lineage uint64) error {
	return a.lineages.set(r, lineage)
}

// SetAside implements replica.Lineages.
func (a *staleDataSaver) SetAside(r ring.Range, lineage uint64) (any bool, err error) {
	parts, of := a.lineages.otherLineages(r, lineage)
	for i, part := range parts {
		load, err := a.store.RangeLoad(part)
		if err != nil {
			return any, err
		}
		if load.Keys == 0 {
			continue
		}
		any = true
		if err := a.writeFile(part, of[i]); err != nil {
			return any, fmt.Errorf("put %v of lineage %d aside: %w", part, of[i], err)
		}
	}
	return any, nil
}

// writeFile writes a range, which does not wrap, into a file of its own.
func (a *staleDataSaver) writeFile(r ring.Range, lineage uint64) error {
	dir := filepath.Join(a.dir, asideDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	order, err := a.order()
	if err != nil {
		return err
	}
	var f *os.File
	var name string
	for i := 1; f == nil; i++ {
		name = filepath.Join(dir, fmt.Sprintf("%v.lineage%d.%d.resp", r, lineage, i))
		if _, there := os.Stat(name); there == nil {
			continue // from an attempt that was cut short before all of it was dropped
		}
		if f, err = os.Create(name + ".part"); err != nil {
			return err
		}
	}
	w := bufio.NewWriterSize(f, 64<<10)
	keys, err := exportRange(a.store, r, w, order)
	err = errors.Join(err, w.Flush(), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(name+".part", name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(name+".part"))
	}
	a.logger.Warn("saved the old data of a range that was created again elsewhere: redis-cli --pipe < file restores the keys that have no newer value",
		"range", r.String(), "lineage", lineage, "keys", keys, "file", name)
	return durable.SyncDir(dir)
}

// exportRange writes a range, which does not wrap, as RESTORE commands, a value at a time. SELECT precedes
// the keys of each database, by the order of databases.
func exportRange(s *store.Store, r ring.Range, w *bufio.Writer, order *database.Order) (keys int, err error) {
	u, selected := s.NewUnit(), -1
	var found [][]byte
	for at, ended := store.CursorAt(r.Start), false; !ended && err == nil; {
		found = found[:0]
		at, ended, err = s.ScanIn(r, at, 100, func(e store.Entry) bool {
			found = append(found, append([]byte(nil), e.Key...))
			return true
		})
		for _, key := range found {
			var value []byte
			var expiry int64
			if err == nil {
				value, expiry, err = dumpKey(u, key)
			}
			if err != nil || len(value) == 0 {
				continue
			}
			head, name := database.Split(key)
			if n := order.Number(head); n != selected {
				writeCommand(w, []byte("SELECT"), strconv.AppendInt(nil, int64(n), 10))
				selected = n
			}
			args := [][]byte{[]byte("RESTORE"), name, strconv.AppendInt(nil, expiry, 10), value}
			if expiry != 0 {
				args = append(args, []byte("ABSTTL"))
			}
			err = writeCommand(w, args...)
			keys++
		}
	}
	return keys, err
}

// dumpKey returns the serialized value of a stored key and its absolute expiry in ms; no value if the key has expired,
// or all fields of its hash.
func dumpKey(u *store.Unit, key []byte) (value []byte, expiry int64, err error) {
	u.Begin(time.Now().UnixMilli(), []store.Place{u.Place(key)})
	v, err := u.Get(key)
	if err == nil && v.Exists() {
		value, err = collection.AppendDump(nil, u, key, v)
	}
	expiry = v.Expiry
	if _, end := u.Commit(nil); err == nil {
		err = end
	}
	return value, expiry, err
}

// writeCommand writes a command. Its error is that of all writes to w so far.
func writeCommand(w *bufio.Writer, args ...[]byte) error {
	_, err := fmt.Fprintf(w, "*%d\r\n", len(args))
	for _, arg := range args {
		if err == nil {
			_, err = fmt.Fprintf(w, "$%d\r\n%s\r\n", len(arg), arg)
		}
	}
	return err
}

// lineageStore are what the node's engine keeps data with; nil on one without data.
func (n *Node) lineageStore(state func() *table.State) (replica.Lineages, error) {
	if n.cfg.Role != RoleStore {
		return nil, nil
	}
	l, err := loadLineages(n.cfg.Dir)
	if err != nil {
		return nil, err
	}
	order := func() (*database.Order, error) {
		return database.ParseOrder(state().Values().Of(database.OrderName).Body)
	}
	return &staleDataSaver{store: n.store, dir: n.cfg.Dir, lineages: l, order: order, logger: n.cfg.Logger}, nil
}
