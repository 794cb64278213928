package node

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/replica/table"
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

func TestOnlyWholeIdsNameNodes(t *testing.T) {
	const directory, other = "0b5d1c1e-7a57-4a3c-9d3e-1f6a0d5c2b11", "0b5d1c1e-7a57-4a3c-9d3e-1f6a0d5c2b12"
	nodes := make([]table.Node, 0, 20)
	for _, id := range []string{"web-10", "web", "host-" + directory, "host-" + other, "new-" + other, other[1:]} {
		nodes = append(nodes, table.Node{ID: id})
	}
	for _, test := range []struct{ name, id, fault string }{
		{"web-10", "web-10", ""},
		{"web", "web", ""},
		{"host-" + directory, "host-" + directory, ""},
		{directory, "host-" + directory, ""},
		{"web-1", "", `there is no node "web-1"; there are`},
		{"eb-10", "", "there is no node"},
		{"b-10", "", "there is no node"},
		{"", "", "there is no node"},
		{"host", "", "there is no node"},
		{directory[1:], "", "there is no node"},
		{"-" + directory, "", "there is no node"},
		{other, "", "2 nodes have the directory " + other},
	} {
		n, err := nodeNamed(test.name, nodes)
		if n.ID != test.id || (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
			t.Errorf("%q: %q, %v, want %q, %q", test.name, n.ID, err, test.id, test.fault)
		}
		if err != nil && !strings.Contains(err.Error(), "web, web-10") {
			t.Errorf("%q: the error does not list the nodes: %v", test.name, err)
		}
	}
	for i := range 14 {
		nodes = append(nodes, table.Node{ID: fmt.Sprint("a", i)})
	}
	if _, err := nodeNamed("b", nodes); err == nil || !strings.HasSuffix(err.Error(), "… (RING NODES lists all)") {
		t.Errorf("of 20 nodes: %v", err)
	}
}
