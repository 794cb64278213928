package psync_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/node/clustertest"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// A rawReplica speaks as redis-cli --rdb and --replica do.
type rawReplica struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

// dialSync says what the words of each line are, and SYNC.
func dialSync(t *testing.T, c *clustertest.Cluster, lines ...[]string) *rawReplica {
	conn, err := net.Dial("tcp", newProxy(t, c, 0).l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(resptest.Patience))
	r := &rawReplica{t, conn, bufio.NewReader(conn)}
	for _, words := range lines {
		r.write(string(resptest.EncodeCommands([][]string{words})))
		if got := r.line(); got != "+OK" {
			t.Fatalf("%q: %s", words, got)
		}
	}
	r.write("SYNC\r\n")
	return r
}

func (r *rawReplica) write(text string) {
	if _, err := io.WriteString(r.conn, text); err != nil {
		r.t.Fatal(err)
	}
}

// line reads a line that is not empty: empty ones say that the server is alive.
func (r *rawReplica) line() string {
	for {
		line, err := r.in.ReadString('\n')
		if err != nil {
			r.t.Fatal(err)
		}
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
}

// file reads the RDB file, and returns the names of all that it has.
func (r *rawReplica) file() (names []string) {
	mark, ok := strings.CutPrefix(r.line(), "$EOF:")
	if !ok || len(mark) != 40 {
		r.t.Fatalf("the mark is %q", mark)
	}
	reader := rdbfile.NewReader(r.in, rdbfile.Config{})
	for {
		e, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.t.Fatal(err)
		}
		switch e.Kind {
		case rdbfile.Key:
			names = append(names, fmt.Sprint(e.Database, " ", string(e.Key)))
		case rdbfile.Function:
			names = append(names, "function")
		}
	}
	r.in = bufio.NewReader(reader.Rest())
	end := make([]byte, 40)
	if _, err := io.ReadFull(r.in, end); err != nil || string(end) != mark {
		r.t.Fatalf("%q follows the file instead of %q: %v", end, mark, err)
	}
	slices.Sort(names)
	return names
}

func startSmall(t *testing.T) (*clustertest.Cluster, doer) {
	c := clustertest.Start(t, clustertest.Config{Nodes: 2})
	cl := c.Client(0)
	for i := range 4 {
		do(t, cl, "SET", fmt.Sprint("key", i), i)
	}
	do(t, cl, "JSON.SET doc $ {}")
	do(t, cl, "HSET timed f v")
	do(t, cl, "HEXPIRE timed 1000 FIELDS 1 f")
	do(t, cl, "FUNCTION LOAD", "#!lua name=f\nredis.register_function('f', function() return 1 end)")
	return c, cl
}

func TestSyncSendsWhatTheClientWants(t *testing.T) {
	c, _ := startSmall(t)
	eof, only := []string{"REPLCONF", "capa", "eof"}, []string{"REPLCONF", "rdb-only", "1"}
	all := []string{"0 doc", "0 key0", "0 key1", "0 key2", "0 key3", "0 timed", "function"}
	for _, test := range []struct {
		name  string
		lines [][]string
		want  []string
	}{
		{"all", [][]string{eof, only}, all},
		{"functions", [][]string{eof, only, {"REPLCONF", "rdb-filter-only", "functions"}}, []string{"function"}},
		{"nothing", [][]string{eof, only, {"REPLCONF", "rdb-filter-only", ""}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := dialSync(t, c, test.lines...).file(); !slices.Equal(got, test.want) {
				t.Errorf("the file has %q, want %q", got, test.want)
			}
		})
	}
	t.Run("unknown length", func(t *testing.T) {
		if got := dialSync(t, c, only).line(); !strings.HasPrefix(got, "-ERR the replica cannot read a file of unknown length") {
			t.Error(got)
		}
	})
}

// A file without a stream behind it is not complete, and has no mark at its end, if a value does not fit its version.
func TestSyncOfAFileAloneLacksNoKey(t *testing.T) {
	for _, version := range []string{"", "11"} {
		t.Run("dump-rdb-version "+version, func(t *testing.T) {
			c, cl := startSmall(t)
			if version == "" {
				do(t, cl, "XGROUP CREATE stream g $ MKSTREAM")
				do(t, cl, "XADD stream 1-1 f v")
				do(t, cl, "XREADGROUP GROUP g c STREAMS stream >")
				do(t, cl, "XNACK stream g FAIL IDS 1 1-1")
			} else {
				do(t, cl, "CONFIG SET dump-rdb-version "+version)
			}
			r := dialSync(t, c, []string{"REPLCONF", "capa", "eof"}, []string{"REPLCONF", "rdb-only", "1"})
			mark := strings.TrimPrefix(r.line(), "$EOF:")
			if rest, err := io.ReadAll(r.in); err != nil || strings.HasSuffix(string(rest), mark) {
				t.Errorf("%d bytes with the mark at the end: %v", len(rest), err)
			}
		})
	}
}

// The client of a file alone is no replica any more once it has gone, and gets no changes while it has not.
func TestSyncOfAFileAloneHasNoStream(t *testing.T) {
	c, cl := startSmall(t)
	r := dialSync(t, c, []string{"REPLCONF", "capa", "eof"}, []string{"REPLCONF", "rdb-only", "1"})
	r.file()
	if id := infoField(t, cl, "repl_backlog_active"); id != "0" {
		t.Errorf("repl_backlog_active:%s: a file alone began a history", id)
	}
	other := dialSync(t, c, []string{"REPLCONF", "capa", "eof"})
	other.file()
	other.write(string(resptest.EncodeCommands([][]string{{"REPLCONF", "ACK", "0"}})))
	do(t, cl, "SET key changed")
	for line := other.line(); line != "key"; line = other.line() { // the change is on its way to replicas
	}
	_ = other.conn.Close()
	_ = r.conn.(*net.TCPConn).CloseWrite()
	if rest, err := io.ReadAll(r.in); err != nil || len(rest) != 0 {
		t.Errorf("%q follows the file: %v", rest, err)
	}
	resptest.WaitFor(t, "the end of both", func() bool { return do(t, cl, "CLIENT LIST TYPE replica") == "" })
}

func TestRedisCLIWritesFiles(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("redis-cli is not installed")
	}
	c, _ := startSmall(t)
	_, port, _ := net.SplitHostPort(newProxy(t, c, 0).l.Addr().String())
	for option, want := range map[string]int{"--rdb": 7, "--functions-rdb": 1} {
		file := filepath.Join(t.TempDir(), "dump.rdb")
		if out, err := exec.Command(cli, "-p", port, option, file).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", option, err, out)
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		n := 0
		for reader := rdbfile.NewReader(f, rdbfile.Config{}); ; {
			e, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == rdbfile.Key || e.Kind == rdbfile.Function {
				n++
			}
		}
		if n != want {
			t.Errorf("%s wrote %d keys and libraries, want %d", option, n, want)
		}
	}
}
