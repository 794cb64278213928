package resp

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"strconv"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/settings"
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
	return func() { follow(); s.settings.SetPassword(value); s.users.SetPassword(value) }, ""
}

// parseNewPassword is parsePassword for CONFIG SET: a password that does not count is refused.
func parseNewPassword(s *Server, value string) (func(), string) {
	if s.users.Now().DefaultIsAgreed() {
		return nil, "the cluster has agreed on the user default: change its password by ACL SETUSER default"
	}
	return s.parsePassword(value)
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
	s.admin.Config.SetRedisConfig(old.RedisConfig, next.RedisConfig)
	s.quota.SettingsChanged()
	if apply, fault := s.parseEventSetting(next.KeyEvents); fault == "" && old.KeyEvents != next.KeyEvents {
		apply()
	}
	s.tracking.shrink()
	if err := s.audit.Reopen(); err != nil {
		s.log.Error("opening the audit log again failed", "err", err)
	}
	return nil
}

// newConfig makes the table of CONFIG: the settings, which are in place, and what the server knows
// beside them.
func newConfig(s *Server) settings.Table {
	set := &s.settings
	more := []settings.Param{
		{Name: "requirepass", Get: set.PasswordText, Parse: func(v string) (func(), string) { return parseNewPassword(s, v) }, Flag: "requirepass"},
		settings.Fixed("databases", func() string { return strconv.Itoa(cmp.Or(s.cfg.Databases(), database.Default)) }),
		settings.Fixed("strategy", s.strategy),
		settings.Fixed("replicaof", func() string { p := s.follower.Status(); return p.Setting() }),
		settings.Fixed("appendfsync", func() string { return string(s.store.Fsync()) }),
		settings.Fixed("enable-debug-command", func() string { return s.cfg.Debug }),
		settings.Fixed("io-threads", func() string { return strconv.Itoa(runtime.GOMAXPROCS(0)) }),
		settings.Fixed("cluster-enabled", func() string { return settings.YesNo(s.clusterMode()) }),
		{Name: "notify-keyspace-events", Get: func() string { return settings.EventsText(s.keyEvents.Own()) }, Parse: s.parseEventSetting, Flag: "notify-keyspace-events"},
		settings.Number("tracking-table-max-keys", &set.TrackingKeys, 1, settings.Bounds{Max: math.MaxInt64}).Then(s.tracking.shrink).By("tracking-table-max-keys"),
		{Name: "min-free-disk", Get: func() string { return strconv.FormatInt(s.store.MinFreeDisk(), 10) }, Parse: s.parseMinFreeDisk, Flag: "min-free-disk"},
	}
	for name, value := range s.cfg.Fixed {
		more = append(more, settings.Fixed(name, func() string { return value }))
	}
	if s.cfg.Fixed["port"] == "" {
		more = append(more, settings.Fixed("port", func() string { return strconv.FormatInt(s.port.Load(), 10) }))
	}
	t := settings.NewTable(set, more...)
	t.AfterQuota(s.quota.SettingsChanged)
	t.SetRedisConfig("", s.cfg.Settings.RedisConfig)
	return t
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
