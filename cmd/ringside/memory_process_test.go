package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/cmd/ringside/memory"
	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/resp/node"
)

func TestProcessFitsItsCgroup(t *testing.T) {
	wrap, remove, err := cluster.LimitMemory(300 << 20)
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	}()
	for _, tt := range []struct{ setting, want string }{
		{"", "client-memory: 43648kb\n"},
		{"--memory=4gb", "client-memory: 256mb\n"},
		{"--client-memory=100mb", "client-memory: 100mb"},
	} {
		args := append(append(wrap[1:len(wrap):len(wrap)], os.Args[0], "serve", "--print-config"), strings.Fields(tt.setting)...)
		cmd := exec.Command(wrap[0], args...)
		cmd.Env = append(os.Environ(), "RINGSIDE_TEST_AS_COMMAND=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: %v, want %q in\n%s", tt.setting, err, tt.want, out)
		}
	}
}

func TestMemorySettingOverridesSystem(t *testing.T) {
	a := &app{memory: func() memory.Limit { return memory.Limit{Bytes: 1 << 30, Source: "cgroup"} }}
	cfg := node.DefaultConfig()
	if got := a.memoryLimit(&cfg); got.Bytes != 1<<30 || got.Source != "cgroup" {
		t.Errorf("%+v without the setting", got)
	}
	cfg.Memory = 300 << 20
	if got := a.memoryLimit(&cfg); got.Bytes != 300<<20 || got.Source != "memory" {
		t.Errorf("%+v with the setting", got)
	}
}
