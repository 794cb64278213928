package settings

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// demo is a command with a setting of each kind.
type demo struct {
	set  *Set
	addr string
	pass string
	fast bool
	max  int
	size int64
	idle time.Duration
}

func newDemo() *demo {
	d := &demo{addr: "here", fast: true, max: 10, size: 1 << 20, idle: time.Minute}
	d.set = New("DEMO")
	d.set.Group("Things")
	d.set.Add("addr", Text(&d.addr, "host:port"), "where")
	d.set.Add("requirepass", Text(&d.pass, "PASSWORD"), "what", Secret())
	d.set.Add("fast-mode", YesNo(&d.fast), "whether")
	d.set.Add("max-clients", Count(&d.max), "how many")
	d.set.Group("More")
	d.set.Add("cache", Size(&d.size), "how big")
	d.set.Add("idle-timeout", Duration(&d.idle), "how long")
	d.set.AddConfig("file with settings")
	d.set.AlsoKnownAs("port", "addr")
	d.set.Exempt(func(name, _ string) bool { return name == "DEMO_EXEMPT" })
	return d
}

// load runs the command as the command line would.
func (d *demo) load(args []string, environ ...string) error {
	cmd := &cobra.Command{Use: "demo", SilenceErrors: true, SilenceUsage: true, Args: cobra.ArbitraryArgs}
	d.set.AddTo(cmd)
	cmd.RunE = func(_ *cobra.Command, rest []string) error { return d.set.Load(args, rest, environ) }
	cmd.SetArgs(append([]string{}, args...)) // for nil, cobra takes the arguments of the test binary
	return cmd.Execute()
}

func yamlFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "demo.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// faults are the lines that a user would see, the file's path shortened.
func faults(err error, path string) []string {
	if err == nil {
		return nil
	}
	var lines []string
	for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
		var fault *Fault
		if !errors.As(err, &fault) {
			lines = append(lines, "no Fault: "+err.Error())
			continue
		}
		lines = append(lines, strings.ReplaceAll(fault.Error(), path, "FILE"))
	}
	return lines
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestPrecedence(t *testing.T) {
	path := yamlFile(t, "addr: file\nmax-clients: 3\ncache: 3mb\n")
	d := newDemo()
	err := d.load([]string{"--addr", "flag", "--config", path}, "DEMO_ADDR=variable", "DEMO_MAX_CLIENTS=2", "OTHER=1")
	if err != nil {
		t.Fatal(err)
	}
	if d.addr != "flag" || d.max != 2 || d.size != 3<<20 || d.idle != time.Minute {
		t.Errorf("flag, variable, file, default give %q, %d, %d, %v", d.addr, d.max, d.size, d.idle)
	}
	for name, want := range map[string]string{
		"addr": "--addr", "max-clients": "DEMO_MAX_CLIENTS", "cache": path + ":3", "idle-timeout": "--idle-timeout",
	} {
		if got := d.set.Source(name); got != want {
			t.Errorf("%s is from %s, want %s", name, got, want)
		}
	}
	if got, want := d.set.Where("cache"), path+":3: cache"; got != want {
		t.Errorf("Where(cache) = %s, want %s", got, want)
	}
}

func TestConfigFileFromVariable(t *testing.T) {
	d := newDemo()
	if err := d.load(nil, "DEMO_CONFIG="+yamlFile(t, "addr: file")); err != nil || d.addr != "file" {
		t.Errorf("addr %q, %v", d.addr, err)
	}
	d = newDemo()
	err := d.load([]string{"--config", yamlFile(t, "addr: named")}, "DEMO_CONFIG=nowhere.yaml")
	if err != nil || d.addr != "named" {
		t.Errorf("addr %q, %v", d.addr, err)
	}
}

func TestEmptyVariableIsNotSet(t *testing.T) {
	d := newDemo()
	err := d.load([]string{"--config", yamlFile(t, "requirepass: secret")}, "DEMO_REQUIREPASS=", "DEMO_CACHE=")
	if err != nil || d.pass != "secret" || d.size != 1<<20 {
		t.Errorf("pass %q, size %d, %v", d.pass, d.size, err)
	}
}

func TestEveryFaultOfEverySourceAtOnce(t *testing.T) {
	path := yamlFile(t, "# settings\nidle-timeout: soon\nmax_clients: 5\ncache: big\n")
	d := newDemo()
	err := d.load([]string{"--max-clients", "many", "--adr", "x", "--config=" + path, "--cache", "1q", "extra", "-p", "7", "-z=1"},
		"DEMO_FAST_MODE=perhaps", "DEMO_PORT=1", "DEMO_NONSENSE_AT_ALL=1", "DEMO_EXEMPT=1", "DEMO_MAX_CLIENTS=few")
	expect(t, faults(err, path),
		`--adr: no such flag; did you mean --addr?`,
		`-p: no such flag`,
		`-z: no such flag`,
		`arguments: "extra" is not expected; settings are written --name value`,
		`--max-clients: "many" is not a whole number`,
		`--cache: "1q" is not a size: use a whole number and a unit, such as 64mb, or bytes`,
		`DEMO_FAST_MODE: "perhaps": use yes or no`,
		`DEMO_MAX_CLIENTS: "few" is not a whole number`,
		`DEMO_NONSENSE_AT_ALL: no such setting`,
		`DEMO_PORT: no such setting; did you mean DEMO_ADDR?`,
		`FILE:2: idle-timeout: "soon" is not a time: use a number and a unit, such as 500ms, 10s or 1h30m, or seconds`,
		`FILE:3: max_clients: no such setting; did you mean max-clients?`,
		`FILE:4: cache: "big" is not a size: use a whole number and a unit, such as 64mb, or bytes`,
	)
	if d.max != 10 || d.size != 1<<20 {
		t.Errorf("faulty values changed the defaults: %d, %d", d.max, d.size)
	}
}

func TestFileFaults(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"comments", "# nothing\n", nil},
		{"null document", "---\n", nil},
		{"a list", "- addr\n", []string{"FILE:1: expected lines such as addr: 127.0.0.1:6379, found a list"}},
		{"a word", "addr\n", []string{`FILE:1: expected lines such as addr: 127.0.0.1:6379, found "addr"`}},
		{"nested", "\naddr:\n  host: x\n", []string{"FILE:3: addr: expected one value, found a map"}},
		{"list value", "addr: [a, b]\n", []string{"FILE:1: addr: expected one value, found a list"}},
		{"no value", "addr: x\nrequirepass:\n", []string{"FILE:2: requirepass: has no value; give one, or leave the line out"}},
		{"twice", "addr: x\n\naddr: y\n", []string{"FILE:3: addr is set on line 1 already"}},
		{"another file", "config: other.yaml\n", []string{"FILE:1: a file cannot name another; use --config or DEMO_CONFIG"}},
		{"list as key", "[a]: 1\n", []string{"FILE:1: expected the name of a setting, found a list"}},
		{"two documents", "addr: x\n---\naddr: y\n", []string{"FILE: holds more than one document"}},
		{"fraction", "max-clients: 1.5\n", []string{`FILE:1: max-clients: "1.5" is not a whole number`}},
		{"masked", "requirepass: '********'\n", []string{
			"FILE:1: requirepass: a secret that was masked when the settings were printed; put the real one in its place"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := yamlFile(t, tt.text)
			expect(t, faults(newDemo().load([]string{"--config", path}), path), tt.want...)
		})
	}
}

func TestFileThatIsNotYAML(t *testing.T) {
	path := yamlFile(t, "addr: x\ncache: 1mb\n  idle: 3\n")
	got := faults(newDemo().load([]string{"--config", path}), path)
	if len(got) != 1 || !strings.HasPrefix(got[0], "FILE:") || !strings.Contains(got[0], "not YAML") {
		t.Errorf("%q", got)
	}
	got = faults(newDemo().load([]string{"--config", path + ".no"}), path)
	if len(got) != 1 || !strings.HasPrefix(got[0], "--config: ") || !strings.Contains(got[0], "no such file") {
		t.Errorf("%q", got)
	}
}

// What YAML would make a number, a date or a truth value is the text that
// somebody wrote.
func TestFileTextIsTakenAsWritten(t *testing.T) {
	for text, want := range map[string]string{
		"0123": "0123", "no": "no", "1e3": "1e3", `"null"`: "null", "2026-01-02": "2026-01-02", "'a: b'": "a: b", "x # y": "x", `""`: "",
	} {
		d := newDemo()
		if err := d.load([]string{"--config", yamlFile(t, "requirepass: "+text)}); err != nil || d.pass != want {
			t.Errorf("%s is %q, %v, want %q", text, d.pass, err, want)
		}
	}
	d := newDemo()
	if err := d.load([]string{"--config", yamlFile(t, "fast-mode: no\nidle-timeout: 90\n")}); err != nil || d.fast || d.idle != 90*time.Second {
		t.Errorf("%v, %v, %v", d.fast, d.idle, err)
	}
}

func TestSwitchTakesItsValueFromTheNextWord(t *testing.T) {
	d := newDemo()
	if err := d.load([]string{"--fast-mode", "no", "--addr=x"}); err != nil || d.fast || d.addr != "x" {
		t.Errorf("%v, %q, %v", d.fast, d.addr, err)
	}
}

// A value that a stronger source hides would be a surprise on the day on which
// the stronger one goes.
func TestHiddenValueIsCheckedAndHarmless(t *testing.T) {
	d := newDemo()
	if err := d.load([]string{"--max-clients", "1"}, "DEMO_MAX_CLIENTS=2"); err != nil || d.max != 1 {
		t.Errorf("%d, %v", d.max, err)
	}
	d = newDemo()
	expect(t, faults(d.load([]string{"--max-clients", "1"}, "DEMO_MAX_CLIENTS=two"), "no file"),
		`DEMO_MAX_CLIENTS: "two" is not a whole number`)
	if d.max != 1 {
		t.Errorf("max %d", d.max)
	}
}

func FuzzFile(f *testing.F) {
	for _, text := range []string{"addr: x", "a: [", "---\n---\n", "? [a]\n: b", "&a addr: *a", "<<: {addr: 1}", "!!binary addr: x", "addr: &x\n  y: *x"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "demo.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, line := range faults(newDemo().load([]string{"--config", path}), path) {
			if !strings.HasPrefix(line, "FILE") || strings.Contains(line, "\n") {
				t.Fatalf("%q gives %q", text, line)
			}
		}
	})
}

func TestListTakesEachOfItsFlags(t *testing.T) {
	var nodes []string
	count := 1
	s := New("RINGSIDE")
	s.Group("All")
	s.Add("node", List(&nodes, "id"), "")
	s.Add("count", Count(&count), "")
	cmd := &cobra.Command{Use: "x"}
	s.AddTo(cmd)
	args := []string{"--node", "a", "key", "--count=x", "--node=b", "--count", "2"}
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	if s.Given("node") {
		t.Error("given before it is read")
	}
	if err := s.LoadFlags(args); err != nil || !slices.Equal(nodes, []string{"a", "b"}) || count != 2 {
		t.Errorf("%q, %d, %v", nodes, count, err)
	}
	if !s.Given("node") || s.Given("other") {
		t.Error("what is given is not what was given")
	}
}
