package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/node"
)

// ringside runs the command in this process.
func ringside(environ []string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	a := app{args: args, environ: environ, stdout: &out, stderr: &err}
	code = a.run()
	return code, out.String(), err.String()
}

func TestEveryFaultAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ringside.yaml")
	if err := os.WriteFile(file, []byte("strategy: ketma\nmax-clients: lots\nfsink: no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := ringside(
		[]string{"RINGSIDE_FSYNC=sometimes", "RINGSIDE_MAXCLIENTS=5", "RINGSIDE_PORT=7000"},
		"serve", "--config", file, "--cache", "256", "--max-args", "x", "--tls-key", "key.pem", "--prot", "no", "7000")
	if code != 2 || stdout != "" {
		t.Errorf("exit code %d, output %q", code, stdout)
	}
	want := strings.ReplaceAll(`ringside: --prot: no such flag; did you mean --protected-mode?
ringside: arguments: "7000" is not expected; settings are written --name value
ringside: --max-args: "x" is not a whole number
ringside: RINGSIDE_MAXCLIENTS: no such setting; did you mean RINGSIDE_MAX_CLIENTS?
ringside: RINGSIDE_PORT: no such setting; did you mean RINGSIDE_ADDR?
ringside: FILE:2: max-clients: "lots" is not a whole number
ringside: FILE:3: fsink: no such setting; did you mean fsync?
ringside: FILE:1: strategy: "ketma": use buckets, ketama, vnode, anchor, bounded, jump, lrh, maglev, memento, multiprobe or rendezvous
ringside: RINGSIDE_FSYNC: "sometimes": use always, everysec or no
ringside: --cache: 256 bytes is too small: use 64kb to 16tb; 0 is off (a number without a unit counts bytes: 256mb?)
ringside: --tls-cert: missing: tls-key needs the certificate of the key
See 'ringside serve --help'.
`, "FILE", file)
	if stderr != want {
		t.Errorf("got\n%s\nwant\n%s", stderr, want)
	}
}

func TestFlagWithoutValueIsReportedWithTheRest(t *testing.T) {
	code, _, stderr := ringside(nil, "serve", "--fsync", "x", "--addr")
	if code != 2 || !strings.Contains(stderr, "flag needs an argument: --addr\n") || !strings.Contains(stderr, "--fsync: ") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

func TestPrintConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ringside.yaml")
	if err := os.WriteFile(file, []byte("fsync: no\nmax-clients: 7\ncache: 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := ringside(
		[]string{"RINGSIDE_CONFIG=" + file, "RINGSIDE_MAX_CLIENTS=8", "RINGSIDE_ADDR=:1", "RINGSIDE_REQUIREPASS=hunter2"},
		"serve", "--print-config", "--addr", "localhost:7000")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{
		"addr: localhost:7000 # from --addr\n", "max-clients: 8 # from RINGSIDE_MAX_CLIENTS\n",
		"fsync: no # from " + file + ":1\n", "memtable-size: 16mb\n", "stop-timeout: 10s\n", "log-level: info\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "hunter2") {
		t.Error("the password is shown")
	}
}

func TestVariablesOfKubernetesAreNoSettings(t *testing.T) {
	code, _, stderr := ringside([]string{
		"RINGSIDE_SERVICE_HOST=10.0.0.7", "RINGSIDE_SERVICE_PORT=6379", "RINGSIDE_SERVICE_PORT_RESP=6379",
		"RINGSIDE_PORT=tcp://10.0.0.7:6379", "RINGSIDE_PORT_6379_TCP=tcp://10.0.0.7:6379", "RINGSIDE_PORT_6379_TCP_ADDR=10.0.0.7",
		"RINGSIDE_PORT_6379_TCP_PORT=6379", "RINGSIDE_PORT_6379_TCP_PROTO=tcp", "RINGSIDE_PEERS_SERVICE_HOST=10.0.0.8",
		"RINGSIDE_LONG=1",
	}, "serve", "--print-config")
	if code != 0 {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

func TestHelp(t *testing.T) {
	code, stdout, _ := ringside(nil, "serve", "--help")
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	cmd := (&app{}).serveCommand()
	if !cmd.HasExample() {
		t.Error("no examples")
	}
	for _, want := range []string{"Usage:\n  ringside serve [flags]", "Examples:", "Addresses:", "Data:", "Memory:", "Access:",
		"Limits:", "Log:", "RINGSIDE_MAX_CLIENTS", "--fsync always|everysec|no", "(default 256mb)", "(default 127.0.0.1:6379)", "64MiB", "exit code 2"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if code, stdout, _ = ringside(nil); code != 0 || !strings.Contains(stdout, "serve") || !strings.Contains(stdout, "completion") {
		t.Errorf("without a command: exit code %d\n%s", code, stdout)
	}
}

func TestVersion(t *testing.T) {
	defer func(v, c, d string) { version, commit, date = v, c, d }(version, commit, date)
	version, commit, date = "v1.2.3", "0123456789abcdef", "2026-01-02T03:04:05Z"
	const want = "ringside v1.2.3 (commit 0123456789ab of 2026-01-02T03:04:05Z), go1."
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if code, stdout, _ := ringside(nil, args...); code != 0 || !strings.HasPrefix(stdout, want) {
			t.Errorf("%v: exit code %d, %q", args, code, stdout)
		}
	}
	version, commit, date = "", "", ""
	if versionName() == "" {
		t.Error("no version without ldflags")
	}
}

func TestUnknownCommandSuggests(t *testing.T) {
	code, _, stderr := ringside(nil, "serv")
	if code != 2 || !strings.Contains(stderr, `unknown command "serv"`) || !strings.Contains(stderr, "\tserve") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, stdout, stderr := ringside(nil, "completion", shell); code != 0 || len(stdout) < 1000 || !strings.Contains(stdout, "ringside") {
			t.Errorf("%s: exit code %d, %d bytes, %s", shell, code, len(stdout), stderr)
		}
	}
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"serve", "--fsync", ""}, []string{"always", "everysec", "no"}},
		{[]string{"serve", "--log-format", ""}, []string{"text", "json"}},
		{[]string{"serve", "--max-"}, []string{"--max-args", "--max-clients", "--max-key-size", "--max-value-size"}},
		{[]string{"ser"}, []string{"serve"}},
	} {
		_, stdout, _ := ringside(nil, append([]string{"__complete"}, tt.args...)...)
		for _, want := range tt.want {
			if !strings.Contains("\n"+stdout, "\n"+want) {
				t.Errorf("%v does not offer %s: %q", tt.args, want, stdout)
			}
		}
	}
}

func TestStartLineSaysHowToConnect(t *testing.T) {
	for _, tt := range []struct{ addr, cert, password, want string }{
		{"127.0.0.1:6379", "", "", "redis-cli -p 6379"},
		{"0.0.0.0:7000", "", "secret", "redis-cli -p 7000 --askpass"},
		{"[::]:7000", "cert.pem", "", "redis-cli -p 7000 --tls"},
		{"192.0.2.1:6379", "", "", "redis-cli -h 192.0.2.1 -p 6379"},
		{"[::1]:6379", "", "", "redis-cli -h ::1 -p 6379"},
	} {
		addr, err := net.ResolveTCPAddr("tcp", tt.addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := connectWith(node.Config{TLSCert: tt.cert, RequirePass: tt.password}, addr); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.addr, got, tt.want)
		}
	}
}
