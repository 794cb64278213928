package resp

import (
	"strconv"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// Entries of ACL LOG have a number and times since Redis 7.2, and INFO counts them by their reason.
func TestAclLogHasNumbersAndTimes(t *testing.T) {
	_, addr := serveTest(t, nil)
	o, u := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	o.Want("+OK", "ACL", "SETUSER", "u", "on", "nopass", "~k", "+get", "+publish")
	u.Want("+OK", "AUTH", "u", "x")
	u.Want("-NOPERM User u has no permissions to run the 'set' command", "SET", "k", "v")
	u.Want("-NOPERM No permissions to access a key", "GET", "other")
	u.Want("-NOPERM No permissions to access a key", "GET", "other")
	u.Want("-NOPERM No permissions to access a channel", "PUBLISH", "c", "m")
	number := func(v *resptest.Value) int {
		n, err := strconv.Atoi(v.Text)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	log := o.Do("ACL", "LOG").Elems
	if len(log) != 3 {
		t.Fatalf("%d entries", len(log))
	}
	for i, e := range log { // the newest one first
		created, updated := number(e.Field("timestamp-created")), number(e.Field("timestamp-last-updated"))
		if got, want := number(e.Field("entry-id")), 2-i; got != want || created <= 0 || updated < created {
			t.Errorf("entry %d is %d, created %d, updated %d", want, got, created, updated)
		}
	}
	for name, want := range map[string]int{"cmd": 1, "key": 2, "channel": 1, "auth": 0} {
		if got := o.InfoField("acl_access_denied_"+name, "INFO"); got != want {
			t.Errorf("acl_access_denied_%s is %d, want %d", name, got, want)
		}
	}
	o.Want("+OK", "CONFIG", "RESETSTAT")
	if got := o.InfoField("acl_access_denied_key", "INFO"); got != 0 {
		t.Errorf("after CONFIG RESETSTAT it is %d", got)
	}
}
