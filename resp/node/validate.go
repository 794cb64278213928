package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/internal/unixsocket"
	"github.com/ringside-kv/ringside/resp/admin"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/resp/internal/trace"
	"github.com/ringside-kv/ringside/resp/node/internal/certs"
	"github.com/ringside-kv/ringside/resp/node/internal/hostport"
	"github.com/ringside-kv/ringside/resp/node/internal/policies"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// A Fault is one thing that is wrong with a [Config].
type Fault struct {
	// Setting names the field as flags and files do: max-clients is MaxClients.
	Setting string
	// Text says what is wrong and what would be right. It never contains a secret.
	Text string
}

// Error returns the setting and the text.
func (f *Fault) Error() string { return f.Setting + ": " + f.Text }

// faults collects the errors of a Config.
type faults []error

func (f *faults) add(setting, format string, args ...any) {
	*f = append(*f, &Fault{setting, fmt.Sprintf(format, args...)})
}

// Validate reports every fault at once: the error joins one [*Fault] for each. It
// looks at files that the settings name, but changes nothing.
func (c Config) Validate() error {
	var f faults
	c.validateAddrs(&f)
	c.validateCluster(&f)
	c.validateDir(&f)
	c.validateID(&f)
	if c.Strategy != "" {
		f.oneOf("strategy", c.Strategy, Choices("strategy"))
	}
	if c.Hash != "" {
		f.oneOf("hash", c.Hash, Choices("hash"))
	}
	f.oneOf("fsync", c.Fsync, Choices("fsync"))
	f.oneOf("max-data-policy", c.MaxDataPolicy, Choices("max-data-policy"))
	f.oneOf("tls-auth-user", c.TLSUser, Choices("tls-auth-user"))
	f.oneOf("enable-debug-command", c.Debug, Choices("enable-debug-command"))
	if fault := settings.CheckEvents(c.KeyEvents); fault != "" {
		f.add("notify-keyspace-events", "%q: %s", c.KeyEvents, fault)
	}
	for _, err := range settings.CheckRedisConfig(c.RedisConfig) {
		f.add("redis-config", "%v", err)
	}
	c.validateSizes(&f)
	c.validateAccess(&f)
	c.validateTimes(&f)
	return errors.Join(f...)
}

// Choices returns the accepted values of a setting that has a fixed few, nil for
// others.
func Choices(setting string) []string {
	switch setting {
	case "strategy":
		return strategy.Names()
	case "hash":
		return strategy.Hashes()
	case "role":
		return []string{RoleStore, RoleProxy, RoleWitness}
	case "route":
		return []string{RouteForward, RouteRedirect}
	case "ketama-rule":
		return strategy.KetamaRules()
	case "enable-debug-command":
		return []string{"yes", "no", "local"}
	case "cluster-tls":
		return certs.Modes()
	case "tls-auth-user":
		return []string{certs.NoUser, certs.ByName, certs.ByURI}
	case "max-data-policy":
		return settings.PolicyNames()
	case "fsync":
		return []string{FsyncAlways, FsyncEverysec, FsyncNo}
	}
	return nil
}

func (f *faults) oneOf(setting, value string, accepted []string) {
	for _, a := range accepted {
		if value == a {
			return
		}
	}
	f.add(setting, "%q: %s", value, useOneOf(accepted))
}

func useOneOf(accepted []string) string {
	last := len(accepted) - 1
	return "use " + strings.Join(accepted[:last], ", ") + " or " + accepted[last]
}

func (c Config) validateAddrs(f *faults) {
	host, port, err := hostport.Split(c.baseAddr())
	if err != nil {
		f.add("addr", "%q: %v", c.Addr, err)
	}
	if c.UnixSocket != "" {
		if err := unixsocket.CheckPath(c.UnixSocket); err != nil {
			f.add("unix-socket", "%q: %v", c.UnixSocket, err)
		}
	}
	if c.UnixSocketMode&^fs.ModePerm != 0 {
		f.add("unix-socket-mode", "%#o is not a permission; use three octal digits, such as 700 or 770", uint32(c.UnixSocketMode))
	}
	for _, name := range c.HTTPHosts {
		if name == "" || strings.ContainsAny(name, ":/ ") {
			f.add("http-hosts", "%q is not a host name; use names without ports, such as node.example.com, or %s", name, admin.AnyHost)
		}
	}
	switch c.HTTPAddr {
	case HTTPOff:
		return
	case "":
		if err != nil {
			return
		}
		if _, err := derivedAddr(c.baseAddr(), httpPortOffset); err != nil {
			f.add("addr", "%q leaves no port for HTTP: %v; use a port up to %d, or set http-addr (%s to disable)",
				c.Addr, err, hostport.MaxPort-httpPortOffset, HTTPOff)
		}
		return
	}
	httpHost, httpPort, httpErr := hostport.Split(c.HTTPAddr)
	switch {
	case httpErr != nil:
		f.add("http-addr", "%q: %v, or %s", c.HTTPAddr, httpErr, HTTPOff)
	case err == nil && c.Addr != AddrOff && port != 0 && port == httpPort && hostport.Overlap(host, httpHost):
		f.add("http-addr", "%q takes the port that addr %q has; use another port, or %s", c.HTTPAddr, c.Addr, HTTPOff)
	}
}

func (c Config) validateDir(f *faults) {
	switch info, err := os.Stat(c.Dir); {
	case c.Dir == "":
		f.add("dir", "empty; name the directory that holds the data")
	case strings.HasPrefix(c.Dir, "~"):
		f.add("dir", "%q: only a shell replaces ~; write the whole path", c.Dir)
	case err == nil && !info.IsDir():
		f.add("dir", "%q is a file; name a directory", c.Dir)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		f.add("dir", "%v", err)
	}
}

// maxIDLen bounds the name that every message of the node would carry.
const maxIDLen = 128

func (c Config) validateID(f *faults) {
	if len(c.ID) > maxIDLen {
		f.add("id", "%d bytes long; use at most %d", len(c.ID), maxIDLen)
		return
	}
	for _, r := range c.ID {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
		case strings.ContainsRune("._:-", r):
		default:
			f.add("id", "%q holds %q; use letters, digits and . _ : -", c.ID, r)
			return
		}
	}
}

func (c Config) validateSizes(f *faults) {
	if c.Memory != 0 {
		f.size("memory", c.Memory, LeastMemory, maxSize, "; 0 is the limit of the cgroup, or 3/4 of the machine's memory")
	}
	if c.Cache != 0 {
		f.size("cache", c.Cache, 64*kib, maxSize, "; 0 is off")
	}
	f.size("block-cache", c.BlockCache, 64*kib, maxSize, "")
	f.size("memtable-size", c.MemTableSize, 1*mib, 1*gib, "")
	f.size("max-key-size", c.MaxKeySize, 1, 1*mib, "")
	f.size("max-value-size", c.MaxValueSize, 1*kib, 1*gib, "")
	f.size("packed-size", c.PackedSize, 1, 64*kib, "")
	f.size("hll-sparse-max-bytes", c.SparseSize, 1, 64*kib, "")
	f.size("output-buffer", c.OutputBuffer, 64*kib, maxSize, "")
	f.size("client-memory", c.ClientMemory, 1*mib, maxSize, "")
	f.size("script-memory", c.ScriptMemory, 1*mib, 1<<40, "")
	if c.MinFreeDisk < 0 {
		f.add("min-free-disk", "%d is negative; 0 is off", c.MinFreeDisk)
	}
	if c.MaxData < 0 {
		f.add("max-data", "%d is negative; 0 is no limit", c.MaxData)
	}
	f.count("max-clients", c.MaxClients, 1, 1_000_000)
	f.count("max-args", c.MaxArgs, 16, 1<<24)
	f.count("slowlog-max-len", c.SlowlogMaxLen, 0, 1_000_000)
	if c.MaxKeySize > c.MaxValueSize && c.MaxValueSize >= 1*kib {
		f.add("max-key-size", "%s is above max-value-size, %s, which bounds every argument",
			formatSize(c.MaxKeySize), formatSize(c.MaxValueSize))
	}
}

// maxSize is the largest plausible size in memory: 16 TiB. A larger one is a typing error.
const maxSize = 16 * tib

// size reports a size out of bounds. A size that is far too small is most often
// one without its unit.
func (f *faults) size(setting string, n, lowest, highest int64, also string) {
	switch {
	case n >= lowest && n <= highest:
	case n > 0 && n < lowest:
		f.add(setting, "%d bytes is too small: use %s to %s%s (a number without a unit counts bytes: %dmb?)",
			n, formatSize(lowest), formatSize(highest), also, n)
	default:
		f.add(setting, "%s is out of bounds: use %s to %s%s", formatSize(n), formatSize(lowest), formatSize(highest), also)
	}
}

func (f *faults) count(setting string, n, lowest, highest int) {
	if n < lowest || n > highest {
		f.add(setting, "%d is out of bounds: use %d to %d", n, lowest, highest)
	}
}

// maxPassLen is what a client that has not yet given the password may send in
// one argument.
const maxPassLen = 16 * kib

func (c Config) validateAccess(f *faults) {
	if len(c.RequirePass) > maxPassLen {
		f.add("requirepass", "%d bytes long; AUTH takes at most %d", len(c.RequirePass), maxPassLen)
	}
	if strings.ContainsAny(c.RequirePass, "\r\n") {
		f.add("requirepass", "holds a line break, most likely the end of a file; cut it off")
	}
	f.oneOf("cluster-tls", c.ClusterTLS, Choices("cluster-tls"))
	c.tls().Validate(f.add)
}

func (c Config) validateTimes(f *faults) {
	const longest = 365 * 24 * time.Hour
	check := func(setting string, d time.Duration, zero string) {
		switch {
		case d < 0:
			f.add(setting, "%v is negative; %s", d, zero)
		case d > longest:
			f.add(setting, "%v is more than a year (a number without a unit counts seconds)", d)
		}
	}
	check("idle-timeout", c.IdleTimeout, "0 is never")
	check("auth-timeout", c.AuthTimeout, "0 is never")
	check("tcp-keepalive", c.TCPKeepAlive, "0 is off")
	check("stop-timeout", c.StopTimeout, "use 10s, say")
	if c.ForwardTimeout < time.Millisecond || c.ForwardTimeout > time.Hour {
		f.add("forward-timeout", "%v is not between 1ms and 1h; use 10s, say", c.ForwardTimeout)
	}
	if c.Backups < 0 || c.Backups > maxBackups {
		f.add("backups", "%d is not between 0 and %d, the copies beside the primary", c.Backups, maxBackups)
	}
	if c.RecreateAfter != 0 && (c.RecreateAfter < 5*time.Second || c.RecreateAfter > 24*time.Hour) {
		f.add("recreate-after", "%v is not between 5s and 24h, nor 0, which is never", c.RecreateAfter)
	}
	if c.RereplicateAfter < time.Second || c.RereplicateAfter > 24*time.Hour {
		f.add("rereplicate-after", "%v is not between 1s and 24h; use 30s, say", c.RereplicateAfter)
	}
	if c.Databases < 1 || c.Databases > database.Limit {
		f.add("databases", "%d is not between 1 and %d", c.Databases, database.Limit)
	}
	if _, err := policies.Numbers(c.Together, c.Databases); err != nil {
		f.add("together", "%v", err)
	}
	if c.MinInSync < 1 || c.MinInSync > 255 {
		f.add("min-in-sync", "%d is not between 1 and 255, the primary included", c.MinInSync)
	}
	if c.ScrubInterval != 0 && (c.ScrubInterval < time.Minute || c.ScrubInterval > longest) {
		f.add("scrub-interval", "%v is not between 1m and 365 days, nor 0, which is never", c.ScrubInterval)
	}
	check("leave-timeout", c.LeaveTimeout, "use 10m, say")
	if c.LeaveTimeout == 0 {
		f.add("leave-timeout", "0 leaves no time to hand anything over; use 10m, say")
	}
	if c.StopTimeout == 0 {
		f.add("stop-timeout", "0 leaves running commands no time; use 10s, say")
	}
	if c.TrackedKeys < 0 {
		f.add("tracking-table-max-keys", "%d is negative; 0 is any number", c.TrackedKeys)
	}
	if c.BusyAfter < 0 || c.BusyAfter > time.Hour {
		f.add("busy-reply-threshold", "%v is not between 0, which is never, and 1h (a number without a unit counts seconds, not milliseconds as in redis.conf: use 5s, say)", c.BusyAfter)
	}
	if c.SlowlogSlowerThan > time.Hour {
		f.add("slowlog-slower-than", "%v is more than an hour (a number without a unit counts seconds, not microseconds as in redis.conf: use 10ms, say)",
			c.SlowlogSlowerThan)
	}
	if _, err := trace.Endpoint(c.OTLPEndpoint); err != nil && c.OTLPEndpoint != "" {
		f.add("otlp-endpoint", "%v", err)
	}
	if !(c.OTLPSample >= 0 && c.OTLPSample <= 1) {
		f.add("otlp-sample", "%v is not a share of requests between 0 and 1", c.OTLPSample)
	}
}
