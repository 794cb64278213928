package node

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestDefaultConfigIsValid(t *testing.T) {
	c := DefaultConfig()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	c.EnsureDefaults()
	if err := c.Validate(); err != nil {
		t.Errorf("with defaults ensured: %v", err)
	}
}

func TestEnsureDefaults(t *testing.T) {
	var c Config
	c.EnsureDefaults()
	if err := c.Validate(); err != nil {
		t.Errorf("the zero Config: %v", err)
	}
	if c.HTTPAddr != "127.0.0.1:8379" {
		t.Errorf("HTTPAddr = %q", c.HTTPAddr)
	}
	if c.Cache != 0 || c.IdleTimeout != 0 || c.MinFreeDisk != 0 {
		t.Error("a zero that means off was replaced")
	}
	again := c
	again.EnsureDefaults()
	if !reflect.DeepEqual(again, c) {
		t.Error("not idempotent")
	}

	c = DefaultConfig()
	c.MaxClients, c.Addr, c.HTTPAddr = 7, ":7000", "off"
	c.EnsureDefaults()
	if c.MaxClients != 7 || c.Addr != ":7000" || c.HTTPAddr != "off" {
		t.Errorf("what was set is gone: %+v", c)
	}
}

func TestHTTPAddrFollowsAddr(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:6379": "127.0.0.1:8379",
		":6379":          ":8379",
		"[::1]:7000":     "[::1]:9000",
		"127.0.0.1:0":    "127.0.0.1:0",
		"db-1:63535":     "db-1:65535",
		"db-1:63536":     "", // Validate says why
	} {
		c := DefaultConfig()
		c.Addr, c.BusAddr, c.GossipAddr = addr, "127.0.0.1:0", "127.0.0.1:0"
		c.EnsureDefaults()
		if c.HTTPAddr != want {
			t.Errorf("%s: HTTP at %q, want %q", addr, c.HTTPAddr, want)
		}
		if err := c.Validate(); (err == nil) != (want != "") {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

func TestValidateNamesFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   []string // in the only fault, the setting first
	}{
		{"port alone", func(c *Config) { c.Addr = "6379" }, []string{"addr", "missing port", "127.0.0.1:6379"}},
		{"host alone", func(c *Config) { c.Addr = "localhost" }, []string{"addr", "missing port"}},
		{"empty", func(c *Config) { c.Addr = "" }, []string{"addr", "empty"}},
		{"bare IPv6", func(c *Config) { c.Addr = "::1:6379" }, []string{"addr", "[::1]:6379"}},
		{"URL", func(c *Config) { c.Addr = "redis://localhost:6379" }, []string{"addr", "URL"}},
		{"list", func(c *Config) { c.Addr = "10.0.0.1:6379,10.0.0.2:6379" }, []string{"addr", "more than one"}},
		{"named port", func(c *Config) { c.Addr = "localhost:redis" }, []string{"addr", `"redis"`, "65535"}},
		{"no port", func(c *Config) { c.Addr = "localhost:" }, []string{"addr", "port"}},
		{"port too high", func(c *Config) { c.Addr = "localhost:65536" }, []string{"addr", "65535"}},
		{"signed port", func(c *Config) { c.Addr = "localhost:+1" }, []string{"addr", "65535"}},
		{"mistyped IP", func(c *Config) { c.Addr = "127.0.0.256:6379" }, []string{"addr", "neither"}},
		{"derived port", func(c *Config) { c.Addr, c.BusAddr = "localhost:64000", "localhost:0" }, []string{"addr", "HTTP", "63535", "http-addr"}},
		{"HTTP port", func(c *Config) { c.HTTPAddr = "8080" }, []string{"http-addr", "missing port", "off"}},
		{"HTTP switched no", func(c *Config) { c.HTTPAddr = "no" }, []string{"http-addr", "off"}},
		{"HTTP host with a port", func(c *Config) { c.HTTPHosts = []string{"db.example", "db.example:8379"} }, []string{"http-hosts", `"db.example:8379"`, "without ports"}},
		{"one port for both", func(c *Config) { c.HTTPAddr = ":6379" }, []string{"http-addr", "addr"}},
		{"empty dir", func(c *Config) { c.Dir = "" }, []string{"dir", "empty"}},
		{"dir of a shell", func(c *Config) { c.Dir = "~/data" }, []string{"dir", "~"}},
		{"dir is a file", func(c *Config) { c.Dir = file }, []string{"dir", "is a file"}},
		{"dir below a file", func(c *Config) { c.Dir = file + "/data" }, []string{"dir", "not a directory"}},
		{"id with a bar", func(c *Config) { c.ID = "a|1" }, []string{"id", `'|'`, "letters"}},
		{"long id", func(c *Config) { c.ID = strings.Repeat("n", 129) }, []string{"id", "128"}},
		{"strategy", func(c *Config) { c.Strategy = "Ketama" }, []string{"strategy", `"Ketama"`, "buckets, ketama, vnode, anchor, bounded, jump, lrh, maglev, memento, multiprobe or rendezvous"}},
		{"hash", func(c *Config) { c.Hash = "crc16" }, []string{"hash", "native, fnv1a, md5, murmur3 or slot"}},
		{"fsync", func(c *Config) { c.Fsync = "every-sec" }, []string{"fsync", "always, everysec or no"}},
		{"cache without unit", func(c *Config) { c.Cache = 256 }, []string{"cache", "too small", "256mb?", "0 is off"}},
		{"negative cache", func(c *Config) { c.Cache = -1 }, []string{"cache", "out of bounds"}},
		{"block cache off", func(c *Config) { c.BlockCache = 0 }, []string{"block-cache", "64kb"}},
		{"memtable", func(c *Config) { c.MemTableSize = 3 * gib }, []string{"memtable-size", "1gb"}},
		{"key above value", func(c *Config) { c.MaxKeySize, c.MaxValueSize = 4096, 2048 }, []string{"max-key-size", "4kb", "2kb"}},
		{"value without unit", func(c *Config) { c.MaxValueSize, c.MaxKeySize = 512, 1 }, []string{"max-value-size", "512mb?"}},
		{"output buffer", func(c *Config) { c.OutputBuffer = 64 }, []string{"output-buffer", "64mb?"}},
		{"client memory", func(c *Config) { c.ClientMemory = 256 }, []string{"client-memory", "256mb?"}},
		{"free disk", func(c *Config) { c.MinFreeDisk = -1 }, []string{"min-free-disk", "negative"}},
		{"no clients", func(c *Config) { c.MaxClients = 0 }, []string{"max-clients", "1 to"}},
		{"too few arguments", func(c *Config) { c.MaxArgs = 3 }, []string{"max-args", "16 to"}},
		{"tracked keys", func(c *Config) { c.TrackedKeys = -1 }, []string{"tracking-table-max-keys", "any number"}},
		{"a script's time in milliseconds", func(c *Config) { c.BusyAfter = 5000 * time.Second }, []string{"busy-reply-threshold", "milliseconds"}},
		{"slow log length", func(c *Config) { c.SlowlogMaxLen = -1 }, []string{"slowlog-max-len", "0 to"}},
		{"slow log in microseconds", func(c *Config) { c.SlowlogSlowerThan = 10000 * time.Second },
			[]string{"slowlog-slower-than", "microseconds"}},
		{"idle", func(c *Config) { c.IdleTimeout = -time.Second }, []string{"idle-timeout", "0 is never"}},
		{"keepalive", func(c *Config) { c.TCPKeepAlive = -time.Second }, []string{"tcp-keepalive", "0 is off"}},
		{"keepalive of years", func(c *Config) { c.TCPKeepAlive = 1e9 * time.Second }, []string{"tcp-keepalive", "a year"}},
		{"stop at once", func(c *Config) { c.StopTimeout = 0 }, []string{"stop-timeout"}},
		{"password with newline", func(c *Config) { c.RequirePass = "hunter2\n" }, []string{"requirepass", "line break"}},
		{"long password", func(c *Config) { c.RequirePass = strings.Repeat("p", 16*kib+1) }, []string{"requirepass", "16384"}},
		{"cert without key", func(c *Config) { c.TLSCert = file }, []string{"tls-key", "missing"}},
		{"key without cert", func(c *Config) { c.TLSKey = file }, []string{"tls-cert", "missing"}},
		{"CA alone", func(c *Config) { c.TLSCA = file }, []string{"tls-ca", "tls-cert"}},
		{"not PEM", func(c *Config) { c.TLSCert, c.TLSKey = file, file }, []string{"tls-cert", "PEM"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := DefaultConfig()
			tt.change(&c)
			got := settingsAtFault(t, c.Validate())
			if len(got) != 1 || got[0].Setting != tt.want[0] {
				t.Fatalf("faults %v, want one of %s", got, tt.want[0])
			}
			for _, part := range tt.want[1:] {
				if !strings.Contains(got[0].Text, part) {
					t.Errorf("%q does not say %q", got[0].Text, part)
				}
			}
			if strings.Contains(got[0].Text, "hunter2") {
				t.Error("the password is shown")
			}
		})
	}
}

func TestValidateReportsEveryFaultAtOnce(t *testing.T) {
	c := DefaultConfig()
	c.Addr, c.Strategy, c.Hash, c.Fsync = "6379", "x", "x", "x"
	c.MaxClients, c.Cache, c.StopTimeout = -1, 5, -1
	c.TLSCert, c.TLSKey, c.TLSCA = "no-cert", "no-key", "no-ca"
	var got []string
	for _, f := range settingsAtFault(t, c.Validate()) {
		got = append(got, f.Setting)
	}
	want := "addr strategy hash fsync cache max-clients tls-cert tls-key tls-ca stop-timeout"
	if strings.Join(got, " ") != want {
		t.Errorf("faults of %v, want %s", got, want)
	}
}

func settingsAtFault(t *testing.T, err error) []*Fault {
	t.Helper()
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("%T joins nothing", err)
	}
	var all []*Fault
	for _, err := range joined.Unwrap() {
		var f *Fault
		if !errors.As(err, &f) {
			t.Fatalf("%v is no Fault", err)
		}
		all = append(all, f)
	}
	return all
}

func TestAcceptedAddrs(t *testing.T) {
	for _, addr := range []string{":6379", "0.0.0.0:6379", "[::]:6379", "[fe80::1%eth0]:6379", "db-1.example_x.org:0", "LOCALHOST:1"} {
		c := DefaultConfig()
		c.Addr = addr
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestExposure(t *testing.T) {
	open := func(change func(*Config)) Exposure {
		c := DefaultConfig()
		c.Addr = "0.0.0.0:6379"
		change(&c)
		return c.Exposure()
	}
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   Exposure
	}{
		{"every interface", func(*Config) {}, ExposureRefused},
		{"protected mode off", func(c *Config) { c.ProtectedMode = false }, ExposureOpen},
		{"password", func(c *Config) { c.ProtectedMode, c.RequirePass = false, "p" }, ExposureNone},
		{"TLS", func(c *Config) { c.TLSCert = "cert" }, ExposureNone},
		{"loopback", func(c *Config) { c.Addr, c.ProtectedMode = "127.1.2.3:6379", false }, ExposureNone},
		{"localhost", func(c *Config) { c.Addr = "localhost:6379" }, ExposureNone},
		{"IPv6 loopback", func(c *Config) { c.Addr = "[::1]:6379" }, ExposureNone},
		{"no host", func(c *Config) { c.Addr = ":6379" }, ExposureRefused},
		{"host name", func(c *Config) { c.Addr = "db-1:6379" }, ExposureRefused},
	} {
		if got := open(tt.change); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 1: "1", 1023: "1023", 1024: "1kb", 1536: "1536", 64 * kib: "64kb",
		256 * mib: "256mb", 1 * gib: "1gb", 1536 * mib: "1536mb", -1: "-1",
	} {
		if got := formatSize(n); got != want {
			t.Errorf("formatSize(%d) = %q, want %q", n, got, want)
		}
	}
}
