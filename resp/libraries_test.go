package resp

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// TestGoRedis and TestRueidis do what an application does: connect with a password
// and a name, in the newer protocol, and go on.
func TestGoRedis(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.Password = "secret" })
	ctx := context.Background()
	for proto := 2; proto <= 3; proto++ {
		c := redistest.Client(&redis.Options{Addr: addr, Username: "default", Password: "secret", ClientName: "app", Protocol: proto})
		defer c.Close()
		if err := c.Set(ctx, "a", "1", time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
		if name, err := c.ClientGetName(ctx).Result(); err != nil || name != "app" {
			t.Errorf("name: %q %v", name, err)
		}
		if m, err := c.ConfigGet(ctx, "maxmem*").Result(); err != nil || m["maxmemory-policy"] != "noeviction" {
			t.Errorf("CONFIG GET: %v %v", m, err)
		}
		if list, err := c.ClientList(ctx).Result(); err != nil || !strings.Contains(list, "lib-name=go-redis") {
			t.Errorf("CLIENT LIST: %q %v", list, err)
		}
		if logs, err := c.SlowLogGet(ctx, 10).Result(); err != nil {
			t.Errorf("SLOWLOG: %v %v", logs, err)
		}
		if at, err := c.Time(ctx).Result(); err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("TIME: %v %v", at, err)
		}
	}
	wrong := redistest.Client(&redis.Options{Addr: addr, Password: "wrong", MaxRetries: -1})
	defer wrong.Close()
	if err := wrong.Ping(ctx).Err(); err == nil || !strings.HasPrefix(err.Error(), "WRONGPASS") {
		t.Errorf("wrong password: %v", err)
	}
}

func TestRueidis(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.Password = "secret" })
	for _, old := range []bool{false, true} {
		c, err := rueidis.NewClient(rueidis.ClientOption{
			InitAddress: []string{addr}, Password: "secret", ClientName: "app", DisableCache: true, AlwaysRESP2: old,
			ForceSingleClient: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		if err := c.Do(ctx, c.B().Set().Key("a").Value("1").Build()).Error(); err != nil {
			t.Fatal(err)
		}
		if v, err := c.Do(ctx, c.B().Get().Key("a").Build()).ToString(); err != nil || v != "1" {
			t.Errorf("GET: %q %v", v, err)
		}
		if name, err := c.Do(ctx, c.B().ClientGetname().Build()).ToString(); err != nil || name != "app" {
			t.Errorf("name: %q %v", name, err)
		}
		if m, err := c.Do(ctx, c.B().ConfigGet().Parameter("save").Build()).AsStrMap(); err != nil || len(m) != 1 {
			t.Errorf("CONFIG GET: %v %v", m, err)
		}
		c.Close()
	}
}

// selfSigned is a certificate that nobody else vouches for.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"ringside"}}
	cert, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{cert}, PrivateKey: key}
}

func TestTLS(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) {
		c.TLS = &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}
		c.Settings.KeepAlive = time.Minute
	})
	c := redistest.Client(&redis.Options{Addr: addr, TLSConfig: &tls.Config{InsecureSkipVerify: true}})
	defer c.Close()
	ctx := context.Background()
	big := strings.Repeat("x", 1<<20)
	if err := c.Set(ctx, "a", big, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(ctx, "a").Result(); err != nil || got != big {
		t.Errorf("GET: %d bytes, %v", len(got), err)
	}
	if info, err := c.ClientInfo(ctx).Result(); err != nil || info.Name != "" {
		t.Errorf("CLIENT INFO: %v %v", info, err)
	}
}

func TestRedisTools(t *testing.T) {
	_, addr := serveTest(t, nil)
	_, port, _ := strings.Cut(addr, ":")
	for _, test := range []struct {
		tool, args, want string
	}{
		{"redis-cli", "info keyspace", "# Keyspace"},
		{"redis-cli", "-3 config get appendonly", "appendonly"},
		{"redis-cli", "--latency -i 1 --raw", ""},
		{"redis-benchmark", "-n 200 -c 4 -P 8 -t set,get,ping", `host configuration "appendonly": yes`},
	} {
		path, err := exec.LookPath(test.tool)
		if err != nil {
			t.Skip(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), resptest.Patience)
		defer cancel()
		out, err := exec.CommandContext(ctx, path, append([]string{"-p", port}, strings.Fields(test.args)...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), test.want) {
			t.Errorf("%s %s: %v\n%s", test.tool, test.args, err, out)
		}
	}
}
