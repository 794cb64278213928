package node

import (
	"fmt"
	"runtime"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A proxy, or a witness, serves no key, so its store is one in memory that stays empty.

// proxyStore is as small as a store can be.
func (c *Config) proxyStore(token ring.TokenFunc) store.Config {
	return store.Config{
		Dir: c.Dir, InMemory: true,
		Strategy: c.Strategy, Hash: c.Hash, Token: token,
		Fsync: store.FsyncNo, BlockCache: 64 * kib, MemTable: 1 * mib,
		Logger: c.Logger,
	}
}

// ProxyThreads is on how many processors at a time a process runs best that is a proxy and
// nothing else: on half of them, for it stands beside an application that wants them, too.
func ProxyThreads() int { return max(1, runtime.NumCPU()/2) }

// refuseStore refuses to start a node without data in a directory with data, which would not be
// served.
func refuseStore(dir string) error {
	is, err := store.Exists(dir)
	if err == nil && is {
		err = fmt.Errorf("%w: %s; proxies and witnesses keep no data, so give it a directory of its own", ErrOtherRole, dir)
	}
	return err
}
