package node

import (
	"bufio"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

func TestMetricsAreDescribedAndKnowTheNode(t *testing.T) {
	defer goneInTheEnd(t)
	cert, key := selfSigned(t)
	n := openTest(t, func(c *Config) { c.ID, c.TLSCert, c.TLSKey = "a", cert, key })
	defer n.Close()
	missing := []string{
		"ringside_ready 1\n", "ringside_keys 0\n",
		`ringside_node_info{cluster="ringside",hash="native",node="a",role="store",strategy="buckets"} 1`,
		"ringside_nodes_alive 1", "ringside_nodes_known 1", "ringside_leader 1", "ringside_leader_known 1", "ringside_disk_free_bytes ", "ringside_disk_total_bytes ",
		"ringside_tls_certificate_expiry_timestamp_seconds ", "ringside_auth_failures_total 0", "ringside_log_fsync_seconds_total ", "ringside_log_fsync_duration_seconds_count ",
		`ringside_connections_refused_total{reason="max_clients"} 0`, `ringside_connections_refused_total{reason="protected_mode"} 0`,
	}
	defer func() {
		if len(missing) > 0 {
			t.Errorf("no %q in /metrics", missing)
		}
	}()
	var body string
	resptest.WaitFor(t, "metrics of a ready node", func() bool { // which come one after the other
		var code int
		code, body = fetch(t, n, "/metrics")
		missing = slices.DeleteFunc(missing, func(line string) bool { return strings.Contains(body, "\n"+line) })
		return code == http.StatusOK && len(missing) == 0
	})
	lines := bufio.NewScanner(strings.NewReader(body))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) > 3 && words[1] == "HELP" && words[2] == words[3] || len(words) == 3 && words[1] == "HELP" {
			t.Errorf("%s is not described", words[2])
		}
		if strings.Contains(lines.Text(), "microseconds") {
			t.Errorf("not in seconds: %s", lines.Text())
		}
	}
}
