package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// startCommand starts the command and returns a connection to it, and what kills it and waits.
func startCommand(t *testing.T, args ...string) (o *resptest.Conn, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"serve", "--addr", "127.0.0.1:0", "--http-addr", "off"}, args...)...)
	cmd.Env = append(os.Environ(), "RINGSIDE_TEST_AS_COMMAND=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() }).Stop()
	var log strings.Builder
	listening := regexp.MustCompile(`msg=listening addr=(\S+)`)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		log.WriteString(lines.Text() + "\n")
		m := listening.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			for lines.Scan() {
			}
		}()
		kill = func() { // a second time does nothing
			_ = cmd.Process.Kill()
			<-drained
			_ = cmd.Wait()
		}
		t.Cleanup(kill)
		return resptest.DialRaw(t, m[1]), kill
	}
	t.Fatalf("%v\n%s", cmd.Wait(), &log)
	return nil, nil
}

func TestProcessKeepsRewrittenSettings(t *testing.T) {
	directory := t.TempDir()
	file := filepath.Join(directory, "ringside.yaml")
	const before = "# Settings of a test.\nmin-free-disk: 0\nmax-clients: 100 # few\nstop-timeout: 5s\n"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--config", file, "--dir", filepath.Join(directory, "data")}
	o, kill := startCommand(t, args...)
	set := [][2]string{
		{"maxclients", "200"}, {"timeout", "7"}, {"slowlog-log-slower-than", "-1"}, {"busy-reply-threshold", "1500"}, {"protected-mode", "no"},
		{"notify-keyspace-events", "KEA"}, {"requirepass", "yes: # \"secret\""}, {"hash-max-ziplist-entries", "9"}, {"save", "60 1 300 5"},
		{"proc-title-template", " {title} # "}, {"lazyfree-lazy-expire", "yes"}, {"client-output-buffer-limit", "pubsub 1048576 1 2"}, {"output-buffer", "2097152"},
	}
	for _, s := range set {
		o.Want("+OK", "CONFIG", "SET", s[0], s[1])
	}
	o.Want("+OK", "CONFIG", "REWRITE")
	o.Want("+OK", "CONFIG", "SET", "timeout", "8") // which is lost
	values := func(o *resptest.Conn) map[string]string {
		found := map[string]string{}
		reply := o.Do("CONFIG", "GET", "*")
		for i := 0; i+1 < len(reply.Elems); i += 2 {
			found[reply.Elems[i].Text] = reply.Elems[i+1].Text
		}
		return found
	}
	agreed := func() bool { return values(o)["strategy"] != "unknown" } // until then, the node has no table
	resptest.WaitFor(t, "the strategy", agreed)
	want := values(o)
	want["timeout"] = "7"
	kill()
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"# Settings of a test.\nmin-free-disk: 0\nmax-clients: 200 # few\nstop-timeout: 5s\n", "\nnotify-keyspace-events: ", "\nredis-config: |", "\n  hash-max-listpack-entries 9\n", "\nidle-timeout: 7s\n"} {
		if !strings.Contains(string(after), line) {
			t.Errorf("no %q in the file:\n%s", line, after)
		}
	}
	if strings.Contains(string(after), "cache") || strings.Contains(string(after), "client-memory") {
		t.Errorf("settings that nobody has changed are in the file:\n%s", after)
	}

	o, kill = startCommand(t, args...)
	o.Want("+OK", "AUTH", set[6][1])
	resptest.WaitFor(t, "the strategy", agreed)
	got := values(o)
	for name, value := range want {
		// io-threads follows the load of the machine.
		if got[name] != value && name != "port" && name != "io-threads" {
			t.Errorf("%s is %q after the restart, was %q", name, got[name], value)
		}
	}
	o.Want("+OK", "CONFIG", "REWRITE")
	if again, err := os.ReadFile(file); err != nil || string(again) != string(after) {
		t.Errorf("a second REWRITE has changed the file, %v:\n%s", err, again)
	}
	// Standard values again: the file follows.
	o.Want("+OK", "CONFIG", "SET", "hash-max-listpack-entries", "512", "save", "", "requirepass", "", "notify-keyspace-events", "")
	o.Want("+OK", "CONFIG", "REWRITE")
	kill()
	o, kill = startCommand(t, args...)
	for name, value := range map[string]string{"hash-max-ziplist-entries": "512", "save": "", "requirepass": "", "notify-keyspace-events": "", "timeout": "7"} {
		if got := values(o)[name]; got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	kill()
}

func TestProcessWithoutFileHasNothingToRewrite(t *testing.T) {
	o, kill := startCommand(t, "--dir", filepath.Join(t.TempDir(), "data"), "--notify-keyspace-events", "Kg", "--redis-config", "save 60 1\nhash-max-listpack-value 3\n")
	o.Want("-ERR The server is running without a config file", "CONFIG", "REWRITE")
	for name, value := range map[string]string{"notify-keyspace-events": "gK", "save": "60 1", "hash-max-ziplist-value": "3"} {
		o.Want("*($"+name+" $"+value+")", "CONFIG", "GET", name)
	}
	kill()
}

func TestProcessRefusesFaultyRedisConfig(t *testing.T) {
	cmd := exec.Command(os.Args[0], "serve", "--dir", filepath.Join(t.TempDir(), "data"), "--notify-keyspace-events", "Kq",
		"--redis-config", "# x\nsave 60\nnosuch 1\nmaxclients 5\nlist-compress-depth 1\nlist-compress-depth 2\ndaemonize yes\nport 1\n")
	cmd.Env = append(os.Environ(), "RINGSIDE_TEST_AS_COMMAND=1")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, fault := range []string{
		"--redis-config: line 2: save: Invalid save parameters", "--redis-config: line 3: nosuch: no such parameter", "--redis-config: line 4: maxclients: ",
		"--redis-config: line 6: list-compress-depth: is in line 5 already", "--redis-config: line 7: daemonize: ", "--redis-config: line 8: port: ",
		"--notify-keyspace-events: \"Kq\": Invalid event class character",
	} {
		if !strings.Contains(string(out), fault) {
			t.Errorf("no %q in\n%s", fault, out)
		}
	}
}
