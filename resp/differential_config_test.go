package resp

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/settings"
)

// configValues are given to every parameter: each is valid for some of them.
var configValues = []string{
	"", "yes", "no", "YES", "No", "maybe", "0", "1", "-1", "2", "50", "99", "100", "101", "500", "501", "1000", "1001",
	"65535", "65536", "1048575", "1048576", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "1k", "1KB", "1mb", "10Gb", "3b", "1.5", "007", "+5", " 5", "5 ", "5x", "0x10", "-5mb",
	"10%", "101%", "-5%", "%", "abc", "a b", "a/b", "a-b.c", "a_b", strings.Repeat("h", 255), strings.Repeat("h", 256),
	"default", "save", "nosave", "Now", "save now force", "nosave  now", "save nosave", "save other", "now default", "relative", "absolute",
	"disabled", "swapdb", "on-empty-db", "clients", "ip", "hostname", "unknown-endpoint", "ignore", "panic", "panic-on-replicas", "allchannels", "resetchannels",
	"60 1", "60", "0 1", "60 -1", "60 1 ", "3600 1 300 100", " 60 1", "60  1", "1 2 3", "0 0 2001", "-2000 2000 +7", "1 2 x",
	"50 99.9", "0 100", "100.1", "99.9999999", "nan", "inf", "-0.1", "1e1", "50 ", "{title}", "{title} {port}", "{title", "{nosuch}", "{{", "   ", "{server-mode}", "x",
	"normal 0 0 0", "Normal 1mb 64kb 5 pubsub 0 0 0", "slave 1 2 3 replica 4 5 6", "normal 1 2", "normal x 0 0", "normal 0 0 -1", "normal 0 0 x", "master 0 0 0", "other 0 0 0", "pubsub 100mb 1gb 60",
	"KEA", "AKE", "g$lshzxe", "q", "Kq", "notice", "Verbose", "warning", "always", "everysec", "optional", "local",
}

// ownLimits are parameters whose limits are Ringside's, or that only a restart of Ringside changes: it
// refuses some values that Redis takes. What Redis refuses, Ringside refuses in the same words.
var ownLimits = map[string]string{
	"maxclients": "10000", "slowlog-max-len": "128", "proto-max-bulk-len": "536870912", "maxmemory-clients": "268435456", "maxmemory": "0",
	"min-replicas-to-write": "0", "min-slaves-to-write": "0", "appendfsync": "everysec", "loglevel": "notice", "shutdown-timeout": "10",
	"tls-cert-file": "", "tls-key-file": "", "tls-ca-cert-file": "", "tls-auth-clients": "yes",
}

// notCompared are parameters that Redis would act on in ways that end the comparison, or that its build
// decides about.
var notCompared = map[string]bool{
	"port": true, "bind": true, "tls-port": true, "requirepass": true,
	"watchdog-period": true, "activedefrag": true, "maxclients": true, "timeout": true, "appendonly": true, "save": true, "oom-score-adj": true,
}

func TestConfigTakesWhatRedisTakes(t *testing.T) {
	randomtest.Draw(t, 3)
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	differentialInOne(t, func(d *differ) {
		d.do("CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0 slave 0 0 0 pubsub 0 0 0")
		names := []string{"use-exit-on-panic", "rdb-key-save-delay", "key-load-delay", "loading-process-events-interval-bytes"}
		for i, e := range d.redis.Do("CONFIG", "GET", "*").Elems {
			if i%2 == 0 {
				names = append(names, e.Text)
			}
		}
		for _, name := range names {
			if notCompared[name] {
				continue
			}
			own, hasOwn := ownLimits[name]
			for _, value := range configValues {
				set := []string{"CONFIG", "SET", name, value}
				want, got := d.both(set)
				switch {
				case want.String() == got.String():
				case hasOwn && want.String() == "+OK":
					d.redis.Do("CONFIG", "SET", name, own)
					continue
				default:
					t.Errorf("%s %.60q: got %s, want %s", name, value, got, want)
				}
				if want.String() != "+OK" {
					continue
				}
				if want, got := d.both([]string{"CONFIG", "GET", name}); want.String() != got.String() {
					t.Errorf("%s after %.60q: got %s, want %s", name, value, got, want)
				}
			}
		}
	})
}

// The values of a new server are Redis', except where another one is true of Ringside.
func TestConfigKnowsEveryParameterOfRedis(t *testing.T) {
	others := map[string]string{
		"appendonly": "yes", "client-output-buffer-limit": "normal 67108864 0 0 slave 268435456 67108864 60 pubsub 67108864 0 0", "maxmemory-clients": "268435456", "maxmemory": "0",
		"tcp-keepalive": "0", "slowlog-log-slower-than": "0", "slowlog-max-len": "0",
	}
	differential(t, func(d *differ) {
		reply := d.redis.Do("CONFIG", "GET", "*")
		for i := 0; i+1 < len(reply.Elems); i += 2 {
			name, want := reply.Elems[i].Text, reply.Elems[i+1].Text
			switch name {
			case "dir", "port", "bind", "io-threads", "dbfilename", "logfile", "pidfile", "save", "enable-debug-command", "enable-module-command", "enable-protected-configs", "unixsocket":
				want = "any"
			}
			if other, ok := others[name]; ok {
				want = other
			}
			got := d.ours.Do("CONFIG", "GET", name)
			if len(got.Elems) != 2 || got.Elems[1].Text != want && want != "any" {
				t.Errorf("%s: got %s, want %q", name, got, want)
			}
		}
	})
}

func TestConfigSetChangesAllOrNothing(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
			CONFIG SET list-compress-depth 3 hash-max-listpack-entries 7 lazyfree-lazy-expire yes
			CONFIG GET list-compress-depth
			CONFIG SET list-compress-depth 4 hash-max-listpack-entries x lazyfree-lazy-expire no
			CONFIG SET list-compress-depth 4 hash-max-ziplist-entries x
			CONFIG SET LIST-Compress-Depth 4 Hash-Max-Listpack-Entries x
			CONFIG SET list-compress-depth x nosuch 4
			CONFIG SET nosuch 4 list-compress-depth x
			CONFIG SET daemonize no nosuch 4
			CONFIG SET nosuch 4 daemonize no
			CONFIG SET Daemonize no
			CONFIG SET list-compress-depth x dir /tmp
			CONFIG SET dir /tmp
			CONFIG SET dbfilename x
			CONFIG SET list-compress-depth 5 List-Compress-Depth 6
			CONFIG SET list-compress-depth 5 daemonize no list-compress-depth 6
			CONFIG SET hash-max-listpack-entries 5 hash-max-ziplist-entries 6
			CONFIG SET list-compress-depth 4 list-max-listpack-size
			CONFIG SET list-compress-depth
			CONFIG SET
			CONFIG GET
			CONFIG GET list-compress-depth
			CONFIG GET LIST-compress-DEPTH
			CONFIG GET lazyfree-lazy-expire
			CONFIG GET hash-max-ziplist-entries
			CONFIG GET use-exit-on-panic
			CONFIG GET use-exit-on-pani?
			CONFIG GET nosuch
			CONFIG GET nosuch* list-compress-depth
			CONFIG GET list-compress-depth list-compress-depth
			CONFIG GET list-compress-dept?
			CONFIG GET LIST-COMPRESS-dept[a-z]
			CONFIG GET list-compress-dept[!a-h]
			CONFIG GET list\\-compress-depth
			CONFIG GET ""
		`)
		names := func(reply resptest.Value) (names []string) {
			for i := 0; i < len(reply.Elems); i += 2 {
				names = append(names, reply.Elems[i].Text)
			}
			return sorted(names)
		}
		for _, patterns := range [][]string{{"hash-max-*"}, {"*-ziplist-*", "[^s]*-listpack-*", "save"}, {"repl*", "slave*"}, {"LAZY*"}} {
			want, got := d.both(append([]string{"CONFIG", "GET"}, patterns...))
			if !slices.Equal(names(want), names(got)) {
				t.Errorf("%v: got %v, want %v", patterns, names(got), names(want))
			}
		}
	})
}

// docs/commands.md lists the parameters that change nothing.
func TestDocsListParametersWithoutEffect(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "have no effect:\n\n")
	list, _, _ = strings.Cut(list, "\n\n")
	var want []string
	for _, p := range settings.NewTable(new(settings.Running)) {
		if p.Inert {
			want = append(want, "`"+p.Name+"`")
		}
	}
	if got := strings.Fields(strings.ReplaceAll(list, ",", " ")); !slices.Equal(sorted(got), sorted(want)) {
		t.Errorf("docs/commands.md should list\n%s\nand lists\n%s", strings.Join(want, ", "), strings.Join(got, ", "))
	}
}

// OBJECT ENCODING follows the thresholds that were in force when a value was written.
func TestEncodingsFollowThresholds(t *testing.T) {
	differentialInOne(t, func(d *differ) {
		random := rand.New(rand.NewPCG(randomtest.Seed(t), 2))
		member := func() string {
			if random.IntN(3) == 0 {
				return strings.Repeat("m", 1+random.IntN(12))
			}
			return strconv.Itoa(random.IntN(30))
		}
		for range randomtest.Length(24_000, 500) {
			key := "k" + strconv.Itoa(random.IntN(3))
			other := "k" + strconv.Itoa(random.IntN(3))
			d.do([][]string{
				{"CONFIG", "SET", "hash-max-listpack-entries", strconv.Itoa(random.IntN(8))},
				{"CONFIG", "SET", "hash-max-ziplist-value", strconv.Itoa(random.IntN(12))},
				// With 0, Redis since 7.2 converts a set by SADD of a member that it has, and 7.0 does not.
				{"CONFIG", "SET", "set-max-intset-entries", strconv.Itoa(1 + random.IntN(7))},
				{"CONFIG", "SET", "zset-max-ziplist-entries", strconv.Itoa(random.IntN(8))},
				{"CONFIG", "SET", "zset-max-listpack-value", strconv.Itoa(random.IntN(12))},
				{"HSET", "h" + key, member(), member()}, {"HSET", "h" + key, member(), member(), member(), member()}, {"HDEL", "h" + key, member()}, {"DEL", "h" + key},
				{"SADD", "s" + key, member()}, {"SADD", "s" + key, strconv.Itoa(random.IntN(30))}, {"SREM", "s" + key, member()}, {"DEL", "s" + key},
				{"SUNIONSTORE", "s" + key, "s" + other, "s" + key}, {"SINTERSTORE", "s" + key, "s" + other}, {"COPY", "s" + key, "s" + other},
				{"ZADD", "z" + key, "1", member()}, {"ZADD", "z" + key, "2", member(), "3", member()}, {"ZREM", "z" + key, member()}, {"DEL", "z" + key},
				{"ZUNIONSTORE", "z" + key, "2", "z" + other, "z" + key}, {"ZRANGESTORE", "z" + key, "z" + other, "0", "-1"},
			}[random.IntN(22)]...)
			for _, kind := range []string{"h", "s", "z"} {
				d.do("OBJECT", "ENCODING", kind+key)
			}
		}
	})
}

func sorted(words []string) []string {
	slices.Sort(words)
	return words
}
