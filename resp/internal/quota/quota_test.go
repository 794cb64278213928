package quota

import (
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/ring"
)

// As long as there are keys to evict, no write is refused: also where the data becomes larger than its
// limit just when a writer has found that it need not evict any.
func TestWritesAreNotRefusedWhileThereAreKeysToEvict(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	keys := map[string]bool{}
	for i := range 100 {
		keys[fmt.Sprint("key:", i)] = false
	}
	var set settings.Quota
	for _, p := range set.Params() {
		if p.Name == "maxmemory-policy" {
			apply, _ := p.Parse("allkeys-lru")
			apply()
		}
	}
	st := filled(t, keys, func(string) int { return 0 })
	q := New(Config{
		Store: st, Spans: func() []ring.Range { return []ring.Range{ring.Whole} }, IsTogether: func(int) bool { return false },
		Settings: &set, CountsUses: new(atomic.Bool), Log: slog.New(slog.DiscardHandler),
		Evict: func([][]byte) int { return 0 }, // another goroutine was first
	})
	stop := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() { // writes, and evicts
		for used := st.ActiveBytes(); ; {
			for range 1000 {
				set.MaxData.Store(used + 1)
				set.MaxData.Store(used - 1)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for i := range 1_000_000 {
		if q.MakeRoom(-1, 1); q.node.stuck.Load() {
			t.Errorf("after %d writes, writes are refused", i)
			break
		}
	}
	close(stop)
	others.Wait()
}
