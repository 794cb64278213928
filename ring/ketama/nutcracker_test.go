package ketama

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
)

var record = flag.Bool("record", false, "write the placements of nutcracker to testdata/")

// recorded are the pools whose placements are in testdata/, for where there is no
// nutcracker: one where its rounding takes a group from every server, one where the
// servers differ.
var recorded = map[string][]int{
	"twemproxy-equal-25.tsv": equalWeights(25),
	"twemproxy-weights.tsv":  {1, 2, 3, 4, 5, 6, 7},
}

func equalWeights(n int) []int {
	weights := make([]int, n)
	for i := range weights {
		weights[i] = 1
	}
	return weights
}

func membersOf(weights []int) []ring.Member {
	members := equalMembers(len(weights))
	for i, w := range weights {
		members[i].Weight = float64(w)
	}
	return members
}

func TestAgreesWithNutcracker(t *testing.T) {
	program, err := exec.LookPath("nutcracker")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/nutcracker"); err != nil {
			t.Skip("nutcracker (twemproxy) is not installed: only its recorded placements are compared")
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	type pool struct {
		name    string
		weights []int
	}
	pools := []pool{
		{"1 to 12", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		{"one far heavier", []int{1, 1000, 1}},
	}
	for _, n := range []int{1, 2, 5, 25, 47, 61} {
		pools = append(pools, pool{fmt.Sprintf("%d equal", n), equalWeights(n)})
	}
	for _, n := range []int{3, 10, 30} {
		weights := make([]int, n)
		for i := range weights {
			weights[i] = 1 + random.IntN(10)
		}
		pools = append(pools, pool{fmt.Sprintf("%d random", n), weights})
	}
	for _, pool := range pools {
		t.Run(pool.name, func(t *testing.T) {
			members := membersOf(pool.weights)
			keys := agreementKeys(random, 2000)
			servers := askNutcracker(t, program, "md5", members, keys)
			compare(t, members, keys, servers)
		})
	}
	if *record {
		for name, weights := range recorded {
			keys := agreementKeys(rand.New(rand.NewPCG(1, 2)), 500)
			writeRecorded(t, name, keys, askNutcracker(t, program, "md5", membersOf(weights), keys))
		}
	}
}

// TestAgreesWithNutcrackerByFNV1a places keys by twemproxy's default hash. That takes bytes as signed
// numbers, so keys beyond ASCII go elsewhere.
func TestAgreesWithNutcrackerByFNV1a(t *testing.T) {
	program, err := exec.LookPath("nutcracker")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/nutcracker"); err != nil {
			t.Skip("nutcracker (twemproxy) is not installed")
		}
	}
	members := membersOf([]int{1, 2, 3, 4, 5, 6, 7})
	keys := slices.DeleteFunc(agreementKeys(rand.New(rand.NewPCG(1, 3)), 4000), func(key string) bool {
		return strings.ContainsFunc(key, func(r rune) bool { return r >= utf8.RuneSelf })
	})
	p := mustPlace(t, mustNew(t, Config{Rule: Twemproxy}), ring.Input{Members: members})
	for i, server := range askNutcracker(t, program, "fnv1a_64", members, keys) {
		h := fnv.New64a()
		_, _ = h.Write(ring.HashTag([]byte(keys[i])))
		if got := p.Lookup(ring.Token(uint32(h.Sum64()))).Primary; got != server {
			t.Fatalf("%q is at %s, nutcracker has it at %s", keys[i], got, server)
		}
	}
}

func TestAgreesWithRecordedNutcracker(t *testing.T) {
	for name, weights := range recorded {
		keys, servers := readRecorded(t, name)
		if len(keys) != 500 {
			t.Errorf("%s: %d keys", name, len(keys))
		}
		compare(t, membersOf(weights), keys, servers)
	}
}

// Where twemproxy has lost a group, the two rules do not place alike.
func TestRecordedNutcrackerTellsTheRulesApart(t *testing.T) {
	keys, servers := readRecorded(t, "twemproxy-equal-25.tsv")
	s := mustNew(t, Config{Rule: Libketama})
	p := mustPlace(t, s, ring.Input{Members: equalMembers(25)})
	for i, key := range keys {
		if p.Lookup(s.Token([]byte(key))).Primary != servers[i] {
			return
		}
	}
	t.Error("libketama's rule places all keys as twemproxy does")
}

func compare(t *testing.T, members []ring.Member, keys, servers []string) {
	t.Helper()
	s := mustNew(t, Config{Rule: Twemproxy})
	p := mustPlace(t, s, ring.Input{Members: members})
	differ := 0
	for i, key := range keys {
		if got := p.Lookup(s.Token([]byte(key))).Primary; got != servers[i] {
			if differ++; differ <= 3 {
				t.Errorf("%q is at %s, nutcracker has it at %s", key, got, servers[i])
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d keys differ; weights %v", differ, len(keys), members)
	}
}

// agreementKeys are readable ones, ones with tags and ones of any bytes.
func agreementKeys(random *rand.Rand, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		switch i % 4 {
		case 0:
			keys[i] = fmt.Sprintf("user:%d", random.Uint32())
		case 1:
			keys[i] = fmt.Sprintf("{user:%d}:%d", random.IntN(1000), random.IntN(100))
		case 2:
			keys[i] = []string{"a{}b", "a{b", "a}b{c}d", "{{x}}", "{a}{b}"}[random.IntN(5)] + strconv.Itoa(random.IntN(1000))
		default:
			b := make([]byte, 1+random.IntN(40))
			for j := range b {
				b[j] = byte(random.Uint32())
			}
			keys[i] = string(b)
		}
	}
	return keys
}

// askNutcracker returns the server that each key is sent to: every server answers
// with its name.
func askNutcracker(t *testing.T, program, hash string, members []ring.Member, keys []string) []string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ketama") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	listen := filepath.Join(dir, "pool")
	conf := "pool:\n  listen: " + listen + "\n  redis: true\n  hash: " + hash + "\n  hash_tag: \"{}\"\n" +
		"  distribution: ketama\n  auto_eject_hosts: false\n  servers:\n"
	for i, m := range members {
		address := filepath.Join(dir, strconv.Itoa(i))
		serveName(t, address, m.ID)
		conf += fmt.Sprintf("   - %s:%v %s\n", address, m.Weight, m.ID)
	}
	file := filepath.Join(dir, "conf.yml")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	conn := startNutcracker(t, program, file, listen)
	go func() {
		w := bufio.NewWriter(conn)
		for _, key := range keys {
			resptest.Write(w, "GET", key)
		}
		w.Flush()
	}()
	r := resptest.NewReader(conn)
	servers := make([]string, len(keys))
	for i := range servers {
		name, err := r.Read()
		if err != nil || name.Kind != '$' {
			t.Fatalf("reply %d: %v, %v", i, name, err)
		}
		servers[i] = name.Text
	}
	return servers
}

// startNutcracker returns a connection to its pool.
func startNutcracker(t *testing.T, program, file, listen string) net.Conn {
	t.Helper()
	// It insists on a port for its statistics, which somebody else may take before it
	// does.
	for attempt := 1; ; attempt++ {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := free.Addr().(*net.TCPAddr).Port
		free.Close()
		var said bytes.Buffer
		cmd := exec.Command(program, "-c", file, "-a", "127.0.0.1", "-s", strconv.Itoa(port))
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			cmd.Wait()
		}()
		if conn := dialUntil(listen, ended); conn != nil {
			t.Cleanup(func() {
				conn.Close()
				cmd.Process.Kill()
				<-ended
			})
			return conn
		}
		cmd.Process.Kill()
		<-ended
		if attempt == 3 {
			t.Fatalf("nutcracker does not start:\n%s", said.String())
		}
	}
}

// dialUntil dials until somebody listens there, or returns nil.
func dialUntil(listen string, ended <-chan struct{}) net.Conn {
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if conn, err := net.Dial("unix", listen); err == nil {
			return conn
		}
		select {
		case <-again.C:
		case <-ended:
			return nil
		}
	}
	return nil
}

// serveName answers every command of two arguments with a name.
func serveName(t *testing.T, address, name string) {
	t.Helper()
	l, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	resptest.Serve(t, l, func(conn net.Conn) {
		r, w := resptest.NewRequests(conn), bufio.NewWriter(conn)
		for {
			if _, err := r.Next(); err != nil {
				return
			}
			_, _ = w.WriteString(resptest.Bulk(name))
			if r.Buffered() == 0 && w.Flush() != nil {
				return
			}
		}
	})
}

// A recorded line is the key as a Go string, a tab and the server.
func writeRecorded(t *testing.T, name string, keys, servers []string) {
	t.Helper()
	var b bytes.Buffer
	for i := range keys {
		fmt.Fprintf(&b, "%q\t%s\n", keys[i], servers[i])
	}
	if err := os.WriteFile(filepath.Join("testdata", name), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readRecorded(t *testing.T, name string) (keys, servers []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		quoted, server, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		key, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
		keys, servers = append(keys, key), append(servers, server)
	}
	return keys, servers
}
