package main

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain makes the test binary the command itself when a test starts it so.
func TestMain(m *testing.M) {
	if os.Getenv("RINGSIDE_TEST_AS_COMMAND") != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

func TestProcessServesUntilSIGTERM(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	cmd := exec.Command(os.Args[0], "serve", "--addr", "127.0.0.1:0", "--dir", dir, "--id", "n1")
	cmd.Env = append(os.Environ(), "RINGSIDE_TEST_AS_COMMAND=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() }).Stop()

	reloaded, joined, stopping := false, false, false
	var log strings.Builder
	lines := bufio.NewScanner(stderr)
	listening := regexp.MustCompile(`msg=listening addr=(\S+)`)
	for lines.Scan() {
		log.WriteString(lines.Text() + "\n")
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			conn, err := net.DialTimeout("tcp", m[1], 5*time.Second)
			if err != nil {
				t.Error(err)
			} else {
				conn.Close()
			}
			if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Error(err)
			}
		}
		reloaded = reloaded || strings.Contains(lines.Text(), "msg=reloaded")
		joined = joined || strings.Contains(lines.Text(), `msg="joined the cluster"`)
		if reloaded && joined && !stopping {
			stopping = true
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &log)
	}
	build := thisBuild()
	for _, want := range []string{
		"msg=starting version=" + logValue(build.version) + " source=" + logValue(build.source()) + " go=go",
		"msg=memory limit=", "msg=stopped",
		`msg=listening addr=\S+ http=\S+ id=n1 role=store dir=` + logValue(dir) + ` strategy=(buckets|"not known yet") fsync=everysec connect="redis-cli -p \d+"`,
		`msg="joined the cluster" node=n1 cluster=ringside generation=\d+ strategy=buckets `,
	} {
		if !regexp.MustCompile(want).MatchString(log.String()) {
			t.Errorf("nothing like %s in the log:\n%s", want, &log)
		}
	}
}

// logValue is a regular expression of a value as the log has it.
func logValue(value string) string {
	if strings.ContainsAny(value, " \"=") {
		value = strconv.Quote(value)
	}
	return regexp.QuoteMeta(value)
}

// A closing terminal sends SIGHUP.
func TestProcessLoadtestRemovesItsDirectoryOnHangup(t *testing.T) {
	// A load test goes on if SIGHUP is ignored, as by nohup. A process inherits that, but not a handler.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "loadtest", "--strategies", "buckets", "--nodes", "1", "--backups", "0", "--keys", "100", "--script", "run 10m")
	cmd.Env = append(os.Environ(), "RINGSIDE_TEST_AS_COMMAND=1", "TMPDIR="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }).Stop()
	made := func() []os.DirEntry {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	for deadline := time.Now().Add(time.Minute); len(made()) == 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if len(made()) == 0 {
		t.Error("no directory was made")
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) || exit != nil && !exit.Exited() {
		t.Errorf("%v", err)
	}
	if left := made(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestProcessExitCodes(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tt := range []struct {
		name string
		args []string
		want int
	}{
		{"version", []string{"version"}, 0},
		{"bad configuration", []string{"serve", "--fsync", "x"}, 2},
		{"address in use", []string{"serve", "--addr", taken.Addr().String(), "--http-addr", "off", "--dir", filepath.Join(t.TempDir(), "data")}, 1},
	} {
		cmd := exec.Command(os.Args[0], tt.args...)
		cmd.Env = append(os.Environ(), "RINGSIDE_TEST_AS_COMMAND=1")
		out, err := cmd.CombinedOutput()
		code := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != tt.want {
			t.Errorf("%s: exit code %d, want %d\n%s", tt.name, code, tt.want, out)
		}
	}
}
