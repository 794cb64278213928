package resp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/functions"
	"github.com/ringside-kv/ringside/store"
)

// TestOrdersOfOpenOutcomeAnswerUnknown sends every order to the cluster while the operator fails: UNKNOWN is the
// reply if the order may take effect, ERR if it cannot. Each method of Operator has to be called.
func TestOrdersOfOpenOutcomeAnswerUnknown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(file, []byte("user default on nopass ~* &* +@all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	operator := &orderLog{}
	srv, addr := serveTest(t, func(c *Config, _ *store.Config) {
		c.Operator, c.ACLFile = operator, file
	})
	// The server has a library and a user that were agreed on before.
	if err := srv.scripts.functions.Alone([]agreed.Change{
		{Name: functions.Guard, Body: "x"}, {Name: "library/lib", Body: "#!lua name=lib\nredis.register_function('f', function() return 1 end)"},
	}); err != nil {
		t.Fatal(err)
	}
	srv.users.Agree = nil
	for _, err := range []error{srv.users.LoadAtStart(context.Background()), srv.users.SetUser(context.Background(), "bob", []string{"on"})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	srv.users.Agree = operator.Agree
	o := resptest.Dial(t, addr, 2)
	payload := o.Do("FUNCTION", "DUMP").Text
	if err := os.WriteFile(file, []byte("user default on nopass ~* &* +@all\nuser eve on\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, order := range [][]string{
		strings.Fields("RING PLAN LOAD"), strings.Fields("RING DECISIONS"), strings.Fields("RING STRATEGY"), strings.Fields("RING STRATEGY maglev"), strings.Fields("RING BALANCE LOAD ON"),
		strings.Fields("RING LEAVE"), strings.Fields("RING FORGET n7"), strings.Fields("RING PAUSE"), strings.Fields("RING RESUME"), strings.Fields("RING THROTTLE 1mb"),
		strings.Fields("RING BACKUPS 1"), strings.Fields("RING BACKUP START"), strings.Fields("RING DATABASES 32"), strings.Fields("RING SCRUB"),
		strings.Fields("RING RECREATE ALL"), strings.Fields("RING PIN a=1"),
		{"FUNCTION", "LOAD", "#!lua name=other\nredis.register_function('g', function() return 1 end)"},
		strings.Fields("FUNCTION DELETE lib"), strings.Fields("FUNCTION FLUSH"), {"FUNCTION", "RESTORE", payload, "REPLACE"},
		strings.Fields("ACL SETUSER alice on"), strings.Fields("ACL DELUSER bob"), strings.Fields("ACL LOAD"),
	} {
		for _, fails := range []struct {
			err  error
			want string
		}{
			{fmt.Errorf("%w: nobody knows", agreed.ErrUnknown), "UNKNOWN the outcome is open: nobody knows"},
			{errors.New("there is no leader"), "ERR there is no leader"},
		} {
			operator.log, operator.err = nil, fails.err
			if got := o.Do(order...); got.Kind != '-' || got.Text != fails.want {
				t.Errorf("%q: %v, want -%s", order, got, fails.want)
			}
			for _, line := range operator.log {
				called[strings.Fields(line)[0]] = true
			}
		}
	}
	// Only an order that was accepted is noted.
	operator.log, operator.err = nil, nil
	o.Want("+OK", "RING", "PAUSE")
	if len(operator.log) != 2 || operator.log[1] != "ordered default RING PAUSE" || called["ordered"] {
		t.Errorf("notes: %q, %v", operator.log, called)
	}
	called["ordered"] = true
	// Changes that the operator has made and that not all nodes are known to have loaded are open, too.
	operator.err = nil
	operator.values, _ = operator.values.With([]agreed.Change{{Name: functions.Guard, Body: "y"}}, 1000)
	if got := o.Do("FUNCTION", "DELETE", "lib"); !strings.HasPrefix(got.Text, "UNKNOWN the outcome is open: the libraries are changed, but") {
		t.Errorf("a change that this node does not see: %v", got)
	}
	changer := &policyOrders{orderLog: orderLog{err: fmt.Errorf("%w: nobody knows", agreed.ErrUnknown)}}
	changer.r = routedTestWith(t, 1, func(c *Config, _ *store.Config) { c.Operator = changer })
	changer.r.placeAll(changer.r.all(0))
	resptest.Dial(t, changer.r.addrs[0], 2).Want("-UNKNOWN the outcome is open: nobody knows", "RING", "DATABASE", "3", "TOGETHER")
	called[strings.Join(changer.log, "")] = true
	if n := reflect.TypeFor[Operator]().NumMethod(); len(called) != n {
		t.Errorf("%d of the %d methods of Operator are called: %v", len(called), n, called)
	}
}
