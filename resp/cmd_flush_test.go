package resp

import (
	"fmt"
	"testing"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store"
)

// The keys of the first and of the last tokens are in the cache alone when FLUSHDB asks, while it keeps commits from
// beginning, whether other databases hold keys.
func TestFlushDBCountsKeysThatOnlyTheCacheHas(t *testing.T) {
	_, addr := serveTest(t, func(_ *Config, sc *store.Config) { sc.Cache = 8 << 20 })
	o := resptest.Dial(t, addr, 2)
	slices := map[int]string{}
	for i := 0; slices[0] == "" || slices[0xffff] == ""; i++ {
		key := fmt.Sprint("key:", i)
		slices[int(buckets.Token([]byte(key))>>16)] = key
	}
	for _, other := range []bool{false, true} {
		if other {
			o.Want("+OK", "SELECT", "1")
			o.Want("+OK", "SET", slices[0], "v")
			o.Want("+OK", "SELECT", "0")
		}
		for _, slice := range []int{0, 0xffff} {
			o.Want("+OK", "SET", slices[slice], "v")
		}
		o.Want("+OK", "FLUSHDB")
		o.Want(":0", "DBSIZE")
	}
	o.Want("+OK", "SELECT", "1")
	o.Want(":1", "DBSIZE")
}
