package node

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestOtherNameThanTheDirectorysIsRefused(t *testing.T) {
	open := func(dir, id, role string) error {
		cfg := memberConfig(t, dir, id)
		if cfg.Role = role; role != RoleStore {
			cfg.Join = []string{"127.0.0.1:1"}
		}
		n, err := Open(cfg)
		if err != nil {
			return err
		}
		if role == RoleStore {
			<-n.cluster.entry.enteredCh
		}
		return n.Close()
	}
	for _, test := range []struct{ name, first, second, role, says string }{
		{"given, and another given", "n1", "n2", RoleStore, `"n1"`},
		{"made of the host's, and another given", "", "n2", RoleStore, "-"},
		{"a proxy", "p1", "p2", RoleProxy, `"p1"`},
		{"a witness", "w1", "w2", RoleWitness, `"w1"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := open(dir, test.first, test.role); err != nil {
				t.Fatal(err)
			}
			err := open(dir, test.second, test.role)
			fault := new(Fault)
			if !errors.As(err, &fault) || fault.Setting != "id" || !strings.Contains(fault.Text, test.says) || !strings.Contains(fault.Text, test.second) {
				t.Errorf("%v", err)
			}
			for _, id := range []string{"", test.first} {
				if err := open(dir, id, test.role); err != nil {
					t.Errorf("%q: %v", id, err)
				}
			}
			if test.role != RoleStore {
				return
			}
			forgetName(t, vfs.Default, dir) // what an earlier version left is in the table
			if err := open(dir, test.second, test.role); !errors.As(err, &fault) {
				t.Errorf("by the table: %v", err)
			}
		})
	}
}
