package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/node"
)

// The refusal of another name is one of a setting: its exit code is 2, and its sentence
// names the source of the setting and both names.
func TestProcessRefusesOtherNameThanTheDirectorys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	cfg := node.DefaultConfig()
	cfg.Addr, cfg.HTTPAddr, cfg.Dir, cfg.ID = "127.0.0.1:0", node.HTTPOff, dir, "n1"
	n, err := node.Open(cfg)
	if err == nil {
		err = n.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ringside.yaml")
	if err := os.WriteFile(file, []byte("id: n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		source string
		args   []string
		env    string
	}{
		{"--id", []string{"--id", "n2"}, ""},
		{"RINGSIDE_ID", nil, "RINGSIDE_ID=n2"},
		{"ringside.yaml:1", []string{"--config", file}, ""},
	} {
		cmd := exec.Command(os.Args[0], append([]string{"serve", "--addr", "127.0.0.1:0", "--http-addr", "off", "--dir", dir}, test.args...)...)
		cmd.Env = append(os.Environ(), "RINGSIDE_TEST_AS_COMMAND=1", test.env)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Errorf("%s: %v\n%s", test.source, err, out)
		}
		for _, word := range []string{test.source, `"n1"`, `"n2"`, dir} {
			if !strings.Contains(string(out), word) {
				t.Errorf("%s: %q is not in\n%s", test.source, word, out)
			}
		}
	}
}
