package redistest

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestServersAnswer(t *testing.T) {
	for name, addr := range map[string]string{"alone": Start(t), "cluster": StartCluster(t, "secret")} {
		s := &server{addr: addr}
		if name == "cluster" {
			s.options = []string{"--requirepass", "secret"}
		}
		ses, err := s.open()
		if err != nil {
			t.Fatal(err)
		}
		if reply, err := ses.do("SET", "k", "v"); err != nil || string(reply.Text) != "OK" {
			t.Errorf("%s: %v %v", name, reply, err)
		}
		ses.close()
	}
}

func TestFailedStartReportsTheReason(t *testing.T) {
	Start(t)
	_, err := try("redis-server", []string{"--nonsense"})
	if err == nil || !strings.Contains(err.Error(), ">>> 'nonsense'") {
		t.Errorf("got %v", err)
	}
}

// Two tests in a row have one server. What the first one does to it is nothing to the second.
func TestNextTestGetsTheServerAsNew(t *testing.T) {
	var first string
	t.Run("first", func(t *testing.T) {
		first = Start7(t)
		ses := connect(t, first)
		for _, line := range []string{
			"SET a 1", "CONFIG SET notify-keyspace-events KEA", "ACL SETUSER u on nopass", "CONFIG SET slowlog-log-slower-than 0",
			"FUNCTION LOAD #!lua\x20name=x\nredis.register_function('f',function()return\x201\x20end)", "CLIENT PAUSE 100000 WRITE",
		} {
			words := strings.SplitN(line, " ", map[bool]int{true: 3, false: -1}[strings.HasPrefix(line, "FUNCTION")])
			if _, err := ses.do(words...); err != nil {
				t.Fatal(err)
			}
		}
		if other := Start7(t); other == first {
			t.Error("two servers of one test are the same")
		}
	})
	t.Run("second", func(t *testing.T) {
		addrs := map[string]bool{Start7(t): true, Start7(t): true}
		if !addrs[first] {
			t.Fatal("the first server does not serve again")
		}
		ses := connect(t, first)
		for _, look := range []struct{ line, want string }{
			{"DBSIZE", "0"}, {"CONFIG GET notify-keyspace-events", "notify-keyspace-events,"}, {"ACL USERS", "default"},
			{"FUNCTION LIST", ""}, {"CONFIG GET slowlog-log-slower-than", "slowlog-log-slower-than,10000"}, {"SET b 1", "OK"},
		} {
			reply, err := ses.do(strings.Fields(look.line)...)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := reply.Joined(); got != look.want {
				t.Errorf("%s is %q, not %q", look.line, got, look.want)
			}
		}
	})
}

func TestServerThatCannotBeResetIsReplaced(t *testing.T) {
	var first string
	for _, line := range []string{"CONFIG SET requirepass x", "SHUTDOWN NOSAVE", "PING"} {
		t.Run(line, func(t *testing.T) {
			addr := Start7(t, "--maxclients", "100")
			if addr == first {
				t.Error("the server serves again")
			}
			first = addr
			_, _ = connect(t, addr).do(strings.Fields(line)...)
		})
	}
}

// A process that starts a server and exits at once leaves none.
func TestServerEndsWithItsProcess(t *testing.T) {
	if os.Getenv("RINGSIDE_TEST_STARTS_REDIS") != "" {
		_, _ = os.Stdout.WriteString("at " + Start(t) + "\n")
		os.Exit(0)
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestServerEndsWithItsProcess$")
	child.Env = append(os.Environ(), "RINGSIDE_TEST_STARTS_REDIS=1")
	out, err := child.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, addr, ok := strings.Cut(strings.TrimSpace(string(out)), "at ")
	if !ok {
		t.Skipf("there is no server: %s", out)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		_ = c.Close()
		if time.Now().After(deadline) {
			t.Fatal("the server still serves")
		}
	}
}

func connect(t *testing.T, addr string) *session {
	t.Helper()
	ses, err := (&server{addr: addr}).open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ses.close)
	return ses
}
