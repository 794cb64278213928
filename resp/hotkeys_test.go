package resp

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// The fields and their order follow the documentation of HOTKEYS GET of Redis 8.6:
// redis.io/docs/latest/commands/hotkeys-get.
var hotkeysFields = []string{
	"tracking-active", "sample-ratio", "selected-slots", "all-commands-all-slots-us", "net-bytes-all-commands-all-slots",
	"collection-start-time-unix-ms", "collection-duration-ms", "total-cpu-time-user-ms", "total-cpu-time-sys-ms", "total-net-bytes",
	"by-cpu-time-us", "by-net-bytes",
}

// TestHotkeysCoverTheCluster starts tracking at one node and reads it at the other.
func TestHotkeysCoverTheCluster(t *testing.T) {
	r, keys := halves(t)
	o, far := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 3)
	o.Want("_$", "HOTKEYS", "GET")
	o.Want("_$", "HOTKEYS", "STOP")
	o.Want("+OK", "HOTKEYS", "START", "METRICS", "2", "CPU", "NET", "COUNT", "2")
	far.Want("-ERR hotkey tracking session already in progress", "HOTKEYS", "START", "METRICS", "1", "CPU")
	o.Want("-ERR hotkey tracking session already in progress", "HOTKEYS", "START", "NONSENSE")
	far.Want("-ERR hotkey tracking session in progress, stop tracking first", "HOTKEYS", "RESET")
	for i := range 300 {
		for j, key := range keys {
			if i < 200-100*j {
				o.Want("+OK", "SET", key, "0123456789")
			}
		}
		o.Do("GET", fmt.Sprint("cold", i))
	}
	check := func(v resptest.Value, active string) {
		t.Helper()
		if len(v.Elems) != 1 {
			t.Fatalf("%v, want an array of one map", v)
		}
		v = v.Elems[0]
		var names []string
		for i := 0; i < len(v.Elems); i += 2 {
			names = append(names, v.Elems[i].Text)
		}
		if !slices.Equal(names, hotkeysFields) {
			t.Fatalf("%v", v)
		}
		if got := v.Elems[1].String(); got != ":"+active {
			t.Errorf("tracking-active %s", got)
		}
		top := v.Elems[len(v.Elems)-1]
		// 3 bytes of SET, the key, the value, and +OK
		if want := fmt.Sprintf("*($%s :%d $%s :%d)", keys[0], 200*(3+len(keys[0])+10+5), keys[1], 100*(3+len(keys[1])+10+5)); top.String() != want {
			t.Errorf("%v, want %s", top, want)
		}
		if byTime := v.Elems[len(v.Elems)-3]; len(byTime.Elems) != 4 {
			t.Errorf("%v", byTime)
		}
	}
	check(far.Do("HOTKEYS", "GET"), "1")
	client := redis.NewClient(&redis.Options{Addr: r.addrs[1]})
	defer client.Close()
	if got, err := client.HotKeysGet(t.Context()).Result(); err != nil || !got.TrackingActive || len(got.ByNetBytes) != 2 {
		t.Errorf("go-redis reads %+v, %v", got, err)
	}
	far.Want("+OK", "HOTKEYS", "STOP")
	o.Do("SET", keys[1], "of no interest")
	check(o.Do("HOTKEYS", "GET"), "0")
	o.Want("+OK", "HOTKEYS", "RESET")
	far.Want("_", "HOTKEYS", "GET")
	for _, s := range r.servers {
		if s.hotkeys.Running() {
			t.Error("a node goes on tracking")
		}
	}
}
