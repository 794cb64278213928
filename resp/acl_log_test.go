package resp

import (
	"strconv"
	"strings"
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

// A refused command is the last one of its client: in ACL LOG, and in CLIENT LIST.
func TestRefusedCommandIsTheLastOfItsClient(t *testing.T) {
	srv, addr := serveTest(t, nil)
	set := agreedUsers(t, srv)
	set("on nopass ~* +@all -get")
	o, u := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	u.Want("+OK", "AUTH", "u", "x")
	last := func(command string) {
		t.Helper()
		line := o.Do("ACL", "LOG").Elems[0].Field("client-info").Text
		if _, name, _ := strings.Cut(line, " cmd="); !strings.HasPrefix(name, command+" ") {
			t.Errorf("%s, want the command %s", line, command)
		}
	}
	u.Do("GET", "k")
	last("get")
	u.Want("+OK", "MULTI")
	u.Do("GET", "k")
	last("get")
	u.Want("+OK", "DISCARD")
	u.Want("+OK", "MULTI")
	u.Want("+QUEUED", "INCR", "k")
	set("on nopass ~* +@all -incr")
	u.Do("EXEC")
	last("exec")
	u.Do("EVAL", "return redis.pcall('INCR', 'k')", "0")
	last("eval")
	u.Do("SET", "k")
	if list := o.Do("CLIENT", "LIST").Text; !strings.Contains(list, " cmd=set ") {
		t.Errorf("SET with a wrong number of arguments is not in %s", list)
	}
}
