package deploy

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ringside-kv/ringside/internal/certtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/node"
)

// certificate writes a certificate of this machine and its key.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// scrape returns the metrics of a node that has served, refused and failed some commands.
func scrape(t *testing.T) string {
	t.Helper()
	cfg := node.DefaultConfig()
	cfg.Addr, cfg.Dir, cfg.UnixSocket = "127.0.0.1:0", t.TempDir(), filepath.Join(t.TempDir(), "s")
	cfg.Cache, cfg.BlockCache = 8<<20, 8<<20
	cfg.TLSCert, cfg.TLSKey = certificate(t)
	authority, dir := certtest.New(t, "nodes"), t.TempDir()
	nodeCert, nodeKey := authority.Issue(t, "a")
	certtest.Replace(t, dir, map[string][]byte{"cert": nodeCert, "key": nodeKey, "ca": authority.PEM()})
	cfg.ClusterTLSCert, cfg.ClusterTLSKey, cfg.ClusterTLSCA = filepath.Join(dir, "cert"), filepath.Join(dir, "key"), filepath.Join(dir, "ca")
	n, err := node.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	c, err := net.Dial("unix", cfg.UnixSocket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	replies := resptest.NewReader(c)
	for _, command := range []string{"SET k v", "GET k", "LPUSH k v", "AUTH x y"} {
		resptest.Write(c, strings.Fields(command)...)
		if _, err := replies.Read(); err != nil {
			t.Fatal(err)
		}
	}
	var body string
	resptest.WaitFor(t, "the metrics of these commands", func() bool {
		r, err := http.Get("http://" + n.HTTPAddr().String() + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		body = string(text)
		return err == nil && strings.Contains(body, `ringside_errors_total{code="WRONGTYPE"} 1`) && strings.Contains(body, `ringside_database_bytes{database="0"}`)
	})
	return body
}

// documents decodes all documents of a YAML file.
func documents(t *testing.T, name string) (all []any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc any
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
			return all
		}
		all = append(all, doc)
	}
}

// texts calls visit with each text under a key, at any depth.
func texts(of any, key string, visit func(string)) {
	switch v := of.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[k].(string); ok && k == key {
				visit(text)
			}
			texts(v[k], key, visit)
		}
	case []any:
		for _, element := range v {
			texts(element, key, visit)
		}
	}
}

var metricName = regexp.MustCompile(`\b(?:ringside|process|go)_[a-z0-9_]+`)

func TestDashboardsAndAlertsQueryMetricsThatExist(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector")
	}
	body := scrape(t)
	families := map[string]bool{}
	for line := range strings.Lines(body) {
		if words := strings.Fields(line); len(words) == 4 && words[1] == "TYPE" {
			families[words[2]] = true
			if words[3] == "histogram" {
				for _, end := range []string{"_bucket", "_count", "_sum"} {
					families[words[2]+end] = true
				}
			}
		}
	}
	queries := 0
	check := func(file, query string) {
		queries++
		names := metricName.FindAllString(query, -1)
		if len(names) == 0 && !strings.HasPrefix(query, "up{") && query != "prometheus" {
			t.Errorf("%s: no metric of a node in %q", file, query)
		}
		for _, name := range names {
			if !families[name] {
				t.Errorf("%s: a node has no metric %s, in %q", file, name, query)
			}
		}
	}
	dashboards, err := filepath.Glob("grafana/*.json")
	if err != nil || len(dashboards) == 0 {
		t.Fatalf("dashboards %v, %v", dashboards, err)
	}
	for _, file := range dashboards {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var dashboard any
		if err := json.Unmarshal(text, &dashboard); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		texts(dashboard, "expr", func(query string) { check(file, query) })
		texts(dashboard, "query", func(query string) { check(file, query) })
	}
	for _, doc := range documents(t, "prometheus/alerts.yaml") {
		texts(doc, "expr", func(query string) { check("prometheus/alerts.yaml", query) })
	}
	if queries < 40 {
		t.Errorf("only %d queries were found", queries)
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: the metrics and rules are not checked by it")
	}
	metrics := exec.Command(promtool, "check", "metrics")
	metrics.Stdin = strings.NewReader(body)
	for _, cmd := range []*exec.Cmd{metrics, exec.Command(promtool, "check", "rules", "prometheus/alerts.yaml"),
		exec.Command(promtool, "test", "rules", "prometheus/alerts_test.yaml")} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
}

func TestYAMLParses(t *testing.T) {
	files := []string{"../compose.yaml"}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".yaml" && !strings.Contains(name, "/templates/") {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if len(documents(t, file)) == 0 {
			t.Errorf("%s is empty", file)
		}
	}
}
