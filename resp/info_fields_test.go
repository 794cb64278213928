package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store"
)

// fieldNames are the names in an answer of INFO, by their sections.
func fieldNames(o *resptest.Conn) map[string][]string {
	fields := make(map[string][]string)
	section := ""
	for _, line := range strings.Split(o.Do("INFO", "everything").Text, "\r\n") {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			section = title
		} else if name, _, ok := strings.Cut(line, ":"); ok {
			fields[section] = append(fields[section], name)
		}
	}
	return fields
}

// notOurs are fields of Redis that would say something untrue here.
var notOurs = map[string]bool{
	"multiplexing_api": true, "atomicvar_api": true, "gcc_version": true, "redis_build_id": true,
	"redis_git_sha1": true, "redis_git_dirty": true, "monotonic_clock": true, "process_supervised": true, "lru_clock": true,
}

// INFO has every field of Redis' that means something here, in its section: exporters read them.
func TestInfoHasTheFieldsOfRedis(t *testing.T) {
	_, addr := serveTest(t, nil)
	redis, ours := fieldNames(resptest.Dial(t, redistest.Start7(t), 2)), fieldNames(resptest.Dial(t, addr, 2))
	for section, names := range redis {
		has := make(map[string]bool)
		for _, name := range ours[section] {
			has[name] = true
		}
		for _, name := range names {
			if !has[name] && !notOurs[name] && section != "Commandstats" && section != "Latencystats" && section != "Errorstats" {
				t.Errorf("%s: %s is missing", section, name)
			}
		}
	}
}

// INFO counts the writes that are not on disk yet, and none once they are.
func TestInfoCountsChangesUntilTheyAreOnDisk(t *testing.T) {
	_, addr := serveTest(t, func(_ *Config, c *serveStore) { c.Fsync = store.FsyncNo })
	o := resptest.Dial(t, addr, 2)
	for range 3 {
		o.Do("INCR", "n")
	}
	if n := o.InfoField("rdb_changes_since_last_save", "INFO"); n < 3 {
		t.Errorf("without fsync it is %d", n)
	}
	_, addr = serveTest(t, func(_ *Config, c *serveStore) { c.Fsync = store.FsyncEverySec })
	o = resptest.Dial(t, addr, 2)
	o.Do("INCR", "n")
	resptest.WaitFor(t, "all to be on disk", func() bool { return o.InfoField("rdb_changes_since_last_save", "INFO") == 0 })
}
