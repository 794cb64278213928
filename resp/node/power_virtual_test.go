package node

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/resp/node/internal/lastrun"
	"github.com/ringside-kv/ringside/resp/node/nodetest"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// A lyingFS says of log files that they are synced, and does not sync them.
type lyingFS struct{ vfs.FS }

type lyingFile struct{ vfs.File }

func (lyingFile) Sync() error                { return nil }
func (lyingFile) SyncData() error            { return nil }
func (lyingFile) SyncTo(int64) (bool, error) { return true, nil }
func (f lyingFS) lies(name string, file vfs.File, err error) (vfs.File, error) {
	if err == nil && strings.HasSuffix(name, ".wal") {
		file = lyingFile{file}
	}
	return file, err
}

func (f lyingFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return f.lies(name, file, err)
}

// powerLoss ends a node as a loss of power does: of what was not synced, any part is gone.
func (c *virtualCluster) powerLoss(id string) {
	c.t.Helper()
	v := c.nodes[id]
	c.net.Unplug(v.ip, true)
	c.net.Crash(v.ip)
	synctest.Wait()
	dir := c.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(v.dir)); err != nil {
		c.t.Fatal(err)
	}
	c.buried(v, dir, v.fs.LosePower(c.rnd, c.rnd.IntN(101)))
	last, err := lastrun.Load(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	last.Boot = "before" // the machine has started again
	if err := last.Save(dir); err != nil {
		c.t.Fatal(err)
	}
}

// Nodes that lose their power, one at a time, on disks that keep any part of what was not
// synced: nothing that was acknowledged is lost. A disk that lies about its syncs is found out,
// and its node starts with an empty directory.
func TestNothingIsLostByPowerFailuresOfSingleNodes(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 31))
		mode := []string{string(store.FsyncAlways), string(store.FsyncEverySec)}[rnd.IntN(2)]
		liar := []string{"", "a", "b", "c"}[rnd.IntN(4)]
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			cfg.Fsync = mode
			open, id := cfg.env.Store, cfg.ID
			cfg.env.Store = func(sc *store.Config) {
				open(sc)
				if id == liar {
					sc.FS = lyingFS{sc.FS}
				}
			}
		})
		c.say("fsync %s, the disk of %q lies", mode, liar)
		c.three()
		c.backups(1)
		var l nodetest.AppLoad
		closeClients := c.load(&l, seed, true, "a", "b", "c")
		for round := range turns(6) {
			time.Sleep(time.Duration(500+rnd.IntN(3000)) * time.Millisecond)
			victim := c.running()[rnd.IntN(3)]
			if liar != "" && round == 0 {
				victim = liar
			}
			c.say("%s loses its power", victim)
			c.powerLoss(victim)
			time.Sleep(time.Duration(rnd.IntN(8000)) * time.Millisecond)
			v, err := c.tryStart(victim, c.running()...)
			if victim == liar && errors.Is(err, store.ErrDamaged) {
				c.say("%s is found to have lost something: %v", victim, err)
				v.dir, v.fs = t.TempDir(), memdisk.New()
				_, err = c.tryStart(victim, c.running()...)
			}
			if err != nil {
				t.Fatalf("%s: %v", victim, err)
			}
			c.copied(1)
		}
		time.Sleep(time.Second)
		l.Stop()
		closeClients()
		c.check(&l)
		c.alike()
		c.close()
	})
}
