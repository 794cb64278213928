package redistest

import (
	"bufio"
	"net"
	"strings"
	"testing"
)

// Each server answers at once, one that is a cluster also for keys.
func TestServersAnswer(t *testing.T) {
	for name, addr := range map[string]string{"alone": Start(t), "cluster": StartCluster(t, "")} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("SET k v\r\n")); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(c).ReadString('\n'); line != "+OK\r\n" || err != nil {
			t.Errorf("%s: %q %v", name, line, err)
		}
	}
}

// A server that cannot start is told with what it said.
func TestFailedStartReportsTheReason(t *testing.T) {
	Start(t)
	_, err := try(t, "redis-server", []string{"--nonsense"})
	if err == nil || !strings.Contains(err.Error(), ">>> 'nonsense'") {
		t.Errorf("got %v", err)
	}
}
