package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/store/rdb"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// runImportCommand runs ringside import with what standard input holds.
func runImportCommand(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	a := app{args: append([]string{"import"}, args...), stdin: strings.NewReader(stdin), stdout: &out, stderr: &err}
	code = a.run()
	return code, out.String(), err.String()
}

func TestPortsAndTimesAreCheckedWithTheOtherSettings(t *testing.T) {
	for command, want := range map[string][]string{
		"import --from redis://h:99999 --to h:65536 --retry-for -5s": {`--from: h:99999: "99999" is not a port`, `--to: "h:65536": "65536" is not a port`, "--retry-for: -5s leaves no time"},
		"import cutover --from redis://h:70000 --state s --hold -1s": {`--from: h:70000: "70000" is not a port`, "--hold: -1s is negative"},
		"restore --from place --addr h:x --retry-for 0":              {`--addr: "h:x": "x" is not a port`, "--retry-for: 0s leaves no time"},
		"export --rdb - --from h:+1 --retry-for -1s":                 {`--from: "h:+1": "+1" is not a port`, "--retry-for: -1s leaves no time"},
		"backup --addr h:99999 --to place":                           {`--addr: "h:99999": "99999" is not a port`},
		"status --addr h:99999":                                      {`--addr: "h:99999": "99999" is not a port`},
	} {
		code, _, stderr := ringside(nil, strings.Fields(command)...)
		for _, fault := range want {
			if code != exitUsage || !strings.Contains(stderr, fault) {
				t.Errorf("%s: exit code %d, %q is missing in %q", command, code, fault, stderr)
			}
		}
	}
}

func TestImportReportsEveryFaultAtOnce(t *testing.T) {
	code, stdout, stderr := runImportCommand("", "--to", "here,:0", "--db", "1=x", "--db", "2=1", "--db", "2=3", "--tls-key", "k.pem")
	if code != exitUsage || stdout != "" {
		t.Errorf("exit code %d, output %q", code, stdout)
	}
	for _, want := range []string{
		`--to: "here" is not of the form host:port`, `--to: ":0" has no port`, `--db: "1=x" is not of the form n=m`,
		"--db: database 2 is named twice", "--rdb: missing", "--tls-cert: missing",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is missing in\n%s", want, stderr)
		}
	}
	_, _, stderr = runImportCommand("", "--from", "http://user:secret@x", "--from", "redis://user@host/3", "--to", ":1")
	for _, want := range []string{`--from: "…@x" is not of the form`, "--from: host has a user name without", "databases are chosen by --db"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is missing in\n%s", want, stderr)
		}
	}
	_, _, pool := runImportCommand("", "--from", "redis://a?weight=x", "--from", "redis://b?size=2", "--to", ":1")
	for _, want := range []string{`a:6379: weight "x" is not a number`, `b:6379: "size" is neither name nor weight`, "--from: is given 2 times, so --pool must"} {
		if !strings.Contains(pool, want) {
			t.Errorf("%q is missing in\n%s", want, pool)
		}
	}
	_, _, verify := runImportCommand("", "--from", "redis://a", "--to", ":1", "--verify", "--once", "--merge")
	for _, want := range []string{"--once: has no meaning beside --verify", "--merge: has no meaning beside --verify"} {
		if !strings.Contains(verify, want) {
			t.Errorf("%q is missing in\n%s", want, verify)
		}
	}
	if strings.Contains(stderr, "secret") {
		t.Errorf("the password is shown:\n%s", stderr)
	}
}

func TestImportReadsAFileFromStandardInput(t *testing.T) {
	cfg := node.DefaultConfig()
	cfg.Addr, cfg.Dir = "127.0.0.1:0", t.TempDir()
	n, err := node.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	addr := n.Addr().String()
	var file bytes.Buffer
	w, err := rdbfile.NewWriter(&file, 10)
	if err != nil {
		t.Fatal(err)
	}
	for database := range 3 {
		if err := w.Key(database, []byte("key"), rdb.AppendString(nil, []byte("value")), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := runImportCommand(file.String(), "--rdb", "-", "--to", addr, "--db", "2=4")
	if code != 0 || !strings.HasPrefix(stdout, "keys       1, ") || !strings.Contains(stdout, "left out   2,") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	c := redis.NewClient(&redis.Options{Addr: addr, DB: 4})
	defer c.Close()
	if value := c.Get(context.Background(), "key").Val(); value != "value" {
		t.Errorf("the value is %q", value)
	}
	code, _, stderr = runImportCommand(file.String()[:30], "--rdb", "-", "--to", addr)
	if code != exitFailure || !strings.Contains(stderr, "ringside: import: read RDB: at byte 30") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	code, stdout, stderr = runImportCommand(file.String(), "--rdb", "-", "--to", addr, "--db", "2=4", "--verify")
	if code != 0 || stdout != "compared   1 keys\ndifferent  0\n" {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, _ = runImportCommand(file.String(), "--rdb", "-", "--to", addr, "--db", "2=5", "--verify")
	if code != exitFailure || !strings.Contains(stdout, `  database 2, key "key": the target does not have it`) {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	exported := filepath.Join(t.TempDir(), "out.rdb")
	if code, stdout, stderr = ringside(nil, "export", "--from", addr, "--rdb", exported, "--db", "4=2"); code != 0 || !strings.Contains(stdout, "keys       1,") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr = runImportCommand("", "--rdb", exported, "--to", addr, "--db", "2=4", "--verify"); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	// A value that is not what its type says.
	file.Reset()
	if w, err = rdbfile.NewWriter(&file, 10); err == nil {
		err = w.Key(0, []byte("bad"), rdb.SealAs([]byte("\x0b\x03abc"), 0, 10), 0)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = runImportCommand(file.String(), "--rdb", "-", "--to", addr)
	if code != exitFailure || !strings.Contains(stdout, `  database 0, key "bad": Bad data format`) {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}
