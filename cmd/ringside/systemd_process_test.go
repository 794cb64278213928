package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// The process is started as systemd starts a service with a socket unit and Type=notify.
func TestProcessTakesSocketsOfSystemdAndNotifies(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell: ", err)
	}
	dir := t.TempDir()
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer notify.Close()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	unix, err := net.Listen("unix", filepath.Join(dir, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	var files []*os.File
	for _, l := range []interface{ File() (*os.File, error) }{tcp.(*net.TCPListener), unix.(*net.UnixListener)} {
		f, err := l.File()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	cmd := exec.Command(shell, "-c", `LISTEN_PID=$$ LISTEN_FDS=2 exec "$0" serve --http-addr off --bus-addr 127.0.0.1:0 --gossip-addr 127.0.0.1:0 --dir "$1"`,
		os.Args[0], filepath.Join(dir, "data"))
	cmd.Env = append(os.Environ(), "RINGSIDE_TEST_AS_COMMAND=1", "NOTIFY_SOCKET="+notify.LocalAddr().String(), "WATCHDOG_USEC=900000")
	cmd.ExtraFiles = files
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(30*time.Second, func() { cmd.Process.Kill(); notify.Close() }).Stop()

	var told []string
	awaitState := func(state string) {
		t.Helper()
		buf := make([]byte, 4096)
		for !slices.ContainsFunc(told, func(s string) bool { return strings.HasPrefix(s, state) }) {
			n, err := notify.Read(buf)
			if err != nil {
				t.Fatalf("no %s but %q: %v\n%s", state, told, err, &log)
			}
			told = append(told, string(buf[:n]))
		}
	}
	awaitState("READY=1")
	awaitState("WATCHDOG=1")
	for _, addr := range []net.Addr{tcp.Addr(), unix.Addr()} {
		c, err := net.Dial(addr.Network(), addr.String())
		if err != nil {
			t.Fatal(err)
		}
		resptest.Write(c, "CLIENT", "LIST")
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		v, err := resptest.NewReader(c).Read()
		if err != nil || !strings.Contains(v.String(), "laddr="+strings.TrimSuffix(addr.String(), ":0")) {
			t.Errorf("CLIENT LIST at %s: %v, %v", addr, v, err)
		}
		_ = c.Close()
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitState("STOPPING=1")
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &log)
	}
	if _, err := os.Lstat(unix.Addr().String()); err != nil {
		t.Errorf("the file of systemd's socket is gone: %v", err)
	}
}
