package redistest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/freeport"
)

// A server is one redis-server process. It ends with this process, however this one ends.
type server struct {
	addr     string
	options  []string
	settings map[string]string // at its start
	process  *exec.Cmd
	life     io.Closer // the process ends when this is closed
	release  func()    // of the port
}

// guarded runs redis-server under the pid of the shell. A second shell waits for the end of
// the standard input, which comes at the latest when the test's process ends. So a server
// outlives no process that was killed or panicked, and needs no goroutine to end it.
// $0 is the server's directory.
const guarded = `exec 3<&0; (read -r _ <&3; kill -9 $$; rm -rf "$0") >/dev/null 2>&1 & exec "$@" 2>&1`

// launch starts a server and waits until it is ready. Another process may take its port first.
func launch(t testing.TB, options []string) *server {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("there is no redis-server")
	}
	for range 5 {
		var s *server
		if s, err = try(path, options); err == nil {
			return s
		}
	}
	t.Fatal(err)
	return nil
}

func try(path string, options []string) (*server, error) {
	addrs, release, err := freeport.Loopback(1)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "redistest")
	if err != nil {
		release()
		return nil, err
	}
	_, port, _ := net.SplitHostPort(addrs[0])
	s := &server{addr: addrs[0], options: options, release: release}
	s.process = exec.Command("sh", append([]string{"-c", guarded, dir, path, "--port", port, "--bind", "127.0.0.1",
		"--save", "", "--appendonly", "no", "--dir", dir}, options...)...)
	var log strings.Builder
	out, err := s.process.StdoutPipe()
	if err == nil {
		s.life, err = s.process.StdinPipe()
	}
	if err == nil {
		err = s.process.Start()
	}
	if err != nil {
		release()
		return nil, err
	}
	slow := time.AfterFunc(patience, func() { _ = s.process.Process.Kill() })
	defer slow.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		log.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "Ready to accept connections") {
			// What it logs from now on is lost: Redis takes no notice.
			return s, out.Close()
		}
	}
	s.end()
	return nil, fmt.Errorf("redis-server ended at once, or was not ready in time:\n%s", log.String())
}

// end kills the process and waits for its end.
func (s *server) end() {
	_ = s.life.Close()
	_ = s.process.Wait()
	s.release()
}
