package backup

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/resp/node"
)

// TestRestoreSetsQuotasOfDatabasesAndAtomicUsers restores what is agreed for databases and users beside their keys and
// rights. A quota holds from the end on: more keys than it allows come back.
func TestRestoreSetsQuotasOfDatabasesAndAtomicUsers(t *testing.T) {
	t.Parallel()
	_, source := startNode(t, func(*node.Config) {})
	for i := range 20 {
		do(t, source, 5, "SET", fmt.Sprint("key", i), strings.Repeat("x", 1000))
	}
	do(t, source, 0, "RING DATABASE 3 QUOTA 100mb POLICY allkeys-lru")
	do(t, source, 0, "RING DATABASE 4 POLICY volatile-ttl")
	do(t, source, 0, "RING DATABASE 5 QUOTA 1kb")
	do(t, source, 0, "ACL SETUSER alice on nopass ~* +@all")
	do(t, source, 0, "ACL SETUSER bob on nopass ~* +@all")
	do(t, source, 0, "RING USER alice ATOMIC ON")
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := Take(t.Context(), TakeConfig{Source: sourceOf(source), To: dir}); err != nil {
		t.Fatal(err)
	}
	_, target := startNode(t, func(c *node.Config) { c.Databases = 2 })
	if _, err := Restore(t.Context(), RestoreConfig{From: dir, Import: importer.Config{Target: sourceOf(target)}}); err != nil {
		t.Fatal(err)
	}
	if n := do(t, target, 5, "DBSIZE"); n != int64(20) {
		t.Errorf("%v keys came back", n)
	}
	for n, want := range map[int]string{
		0: "quota:0\r\nquota_policy:none\r\n", 3: "quota:104857600\r\nquota_policy:allkeys-lru\r\n",
		4: "quota:0\r\nquota_policy:volatile-ttl\r\n", 5: "quota:1024\r\nquota_policy:none\r\n",
	} {
		if text := fmt.Sprint(do(t, target, 0, "RING DATABASE", n)); !strings.HasSuffix(text, want) {
			t.Errorf("database %d: %q, want %q", n, text, want)
		}
	}
	for user, want := range map[string]string{"alice": "on", "bob": "off"} {
		if v := do(t, target, 0, "RING USER", user, "ATOMIC"); v != want {
			t.Errorf("RING USER %s ATOMIC is %v", user, v)
		}
	}
}
