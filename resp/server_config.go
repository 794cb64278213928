package resp

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/store"
)

// parsePassword takes any password; an empty one means that none is needed.
func (s *Server) parsePassword(value string) (func(), string) {
	if len(value) > settings.MaxPassword {
		return nil, fmt.Sprintf("password is longer than %d bytes", settings.MaxPassword)
	}
	follow := func() {}
	if s.cfg.Password != nil {
		var err error
		if follow, err = s.cfg.Password(value); err != nil {
			return nil, err.Error()
		}
	}
	return func() { follow(); s.settings.SetPassword(value) }, ""
}

// parseMinFreeDisk takes the free space in bytes below which writes are refused; 0 is off.
func (s *Server) parseMinFreeDisk(value string) (func(), string) {
	n, ok := settings.ParseMemory(value)
	if !ok || n < 0 {
		return nil, "argument must be a memory value"
	}
	return func() { s.store.SetMinFreeDisk(n) }, ""
}

// keptMost is how many bytes kept scripts may take, and key events that wait for one node: 64
// MiB, or a quarter of client-memory, which follows the memory of the machine, if that is less.
func (s *Server) keptMost() int64 { return min(64<<20, s.settings.ClientMemory.Load()/4) }

// Reconfigure applies the settings of next that differ from old; the others stay as they
// are, also where CONFIG SET has changed them. It may run beside clients. If it returns an
// error, nothing has changed.
func (s *Server) Reconfigure(old, next settings.Settings) error {
	old.EnsureDefaults()
	next.EnsureDefaults()
	if err := next.Validate(); err != nil {
		return err
	}
	if old.Password != next.Password {
		apply, fault := s.parsePassword(next.Password)
		if fault != "" {
			return fmt.Errorf("change the password: %s", fault)
		}
		apply()
	}
	s.settings.Set(&old, &next)
	s.tracking.shrink()
	return nil
}

// fixedAnswers are those that the server can give without being told.
func (s *Server) fixedAnswers() map[string]string {
	return map[string]string{
		// No limit on the data, so nothing is evicted.
		"maxmemory":        "0",
		"maxmemory-policy": "noeviction",
		// No snapshots: every write goes to a log before it is acknowledged, which
		// is what Redis calls its append-only file.
		"save":                      "",
		"appendonly":                "yes",
		"appendfsync":               string(s.store.Fsync()),
		"protected-mode":            settings.YesNo(s.cfg.ProtectedMode),
		"enable-debug-command":      s.cfg.Debug,
		"tcp-keepalive":             strconv.FormatInt(int64(s.cfg.TCPKeepAlive/time.Second), 10),
		"latency-monitor-threshold": "0",
		"latency-tracking":          "yes",
		"io-threads":                strconv.Itoa(runtime.GOMAXPROCS(0)),
		// How often expired keys are looked for.
		"hz": "10",
	}
}

// newConfig makes the table of CONFIG: the settings, which are in place, and what the server knows
// beside them.
func newConfig(s *Server) settings.Table {
	set := &s.settings
	more := []settings.Param{
		{Name: "requirepass", Get: set.PasswordText, Parse: s.parsePassword},
		{Name: "databases", Get: func() string { return strconv.Itoa(s.cfg.Databases()) }},
		{Name: "cluster-enabled", Get: func() string { return settings.YesNo(s.clusterMode()) }},
		{
			Name: "notify-keyspace-events", Parse: s.parseEventSetting,
			Get: func() string { return eventsText(store.EventClass(s.keyEvents.own.Load())) },
		},
		settings.Number("tracking-table-max-keys", &set.TrackingKeys, 1, settings.Bounds{Max: math.MaxInt64}).Then(s.tracking.shrink),
		{
			Name: "min-free-disk", Parse: s.parseMinFreeDisk,
			Get: func() string { return strconv.FormatInt(s.store.MinFreeDisk(), 10) },
		},
	}
	fixed := s.fixedAnswers()
	maps.Copy(fixed, s.cfg.Fixed)
	if fixed["port"] == "" {
		more = append(more, settings.Param{Name: "port", Get: func() string { return strconv.FormatInt(s.port.Load(), 10) }})
	}
	for name, value := range fixed {
		more = append(more, settings.Param{Name: name, Get: func() string { return value }})
	}
	return settings.NewTable(set, more...)
}

// Settings are limits and switches that CONFIG SET may change while the server runs.
type Settings = settings.Settings

// A RouteMode says what a client gets that asks for keys of other nodes.
type RouteMode = settings.RouteMode

// The modes of routing.
const (
	RouteForward  = settings.RouteForward
	RouteRedirect = settings.RouteRedirect
)
