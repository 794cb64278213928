package resp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store"
)

func TestAuditLogHasLoginsChangesAndRefusals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	srv, addr := serveTest(t, func(c *Config, _ *store.Config) { c.AuditLog = path })
	o := resptest.Dial(t, addr, 2)
	for _, line := range []string{
		"ACL SETUSER bob on >topsecret ~allowed* +@all -flushall -acl",
		"CONFIG SET slowlog-max-len 100",
		"CONFIG SET no-such-parameter topsecret",
		"GET not-audited",
		"AUTH bob wrong-topsecret",
		"AUTH bob topsecret",
		"FLUSHALL",
		"GET hidden-topsecret",
		"MULTI",
		"ACL WHOAMI",
		"DISCARD",
		"EVAL return~redis.call('FLUSHALL') 0",
		"RESET",
		"HELLO 3 AUTH bob topsecret",
		"CLIENT LIST",
		"RESET",
		"ACL DELUSER bob",
		"FLUSHALL",
	} {
		args := strings.Fields(line)
		for i := range args {
			if args[0] == "EVAL" {
				args[i] = strings.ReplaceAll(args[i], "~", " ")
			}
		}
		o.Do(args...)
	}
	if err := srv.audit.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "topsecret") {
		t.Errorf("the log has a value:\n%s", text)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		var e struct {
			Event, User, Client, Command, Object, Reason string
			OK                                           bool
			ID                                           int64
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if e.Client != o.C.LocalAddr().String() || e.ID == 0 {
			t.Errorf("client %s, %d", e.Client, e.ID)
		}
		got = append(got, strings.TrimSpace(fmt.Sprintln(e.Event, e.OK, e.User, e.Command, e.Object, e.Reason)))
	}
	want := []string{
		"acl true default acl|setuser bob",
		"admin true default config|set slowlog-max-len",
		"admin false default config|set no-such-parameter",
		"auth false bob auth  auth",
		"auth true bob auth",
		"refused false bob flushall  command",
		"refused false bob get  key",
		"refused false bob acl|whoami  command",
		"refused false bob flushall  command",
		"auth true bob hello",
		"admin true bob client|list",
		"acl true default acl|deluser bob",
		"admin true default flushall",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
