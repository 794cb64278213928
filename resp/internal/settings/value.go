package settings

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// memoryUnits are the suffixes of a number of bytes, as in Redis' configuration:
// with a b it counts in powers of 1024.
var memoryUnits = []struct {
	suffix string
	bytes  int64
}{
	{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30},
	{"k", 1000}, {"m", 1000 * 1000}, {"g", 1000 * 1000 * 1000},
	{"b", 1}, {"", 1},
}

// ParseMemory reads a number of bytes such as 64mb.
func ParseMemory(text string) (int64, bool) {
	n, ok := parseBytes(text)
	return int64(n), ok && n <= math.MaxInt64 && text != "" && text[0] >= '0' && text[0] <= '9'
}

// parseBytes is ParseMemory as Redis has it: no digits are 0. What is too large is the largest number.
func parseBytes(text string) (uint64, bool) {
	text = strings.ToLower(text)
	for _, u := range memoryUnits {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		if strings.Trim(digits, "0123456789") != "" {
			return 0, false
		}
		if digits == "" {
			return 0, true
		}
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || n > math.MaxUint64/uint64(u.bytes) {
			n = math.MaxUint64
		} else {
			n *= uint64(u.bytes)
		}
		return n, true
	}
	return 0, false
}

// PasswordText is the password, or empty if none is needed.
func (s *Running) PasswordText() string {
	if p := s.Password.Load(); p != nil {
		return *p
	}
	return ""
}

// MaxPassword is what a client can send to prove that it knows the password.
const MaxPassword = wire.UnauthedBytes

// ModeOf is the mode of connections that redirect, or do not.
func ModeOf(redirect bool) RouteMode {
	if redirect {
		return RouteRedirect
	}
	return RouteForward
}

func (s *Running) parseRoute(value string) (func(), string) {
	switch RouteMode(strings.ToLower(value)) {
	case RouteForward:
		return func() { s.Redirect.Store(false) }, ""
	case RouteRedirect:
		return func() { s.Redirect.Store(true) }, ""
	}
	return nil, "argument must be forward or redirect"
}

// parseMinReplicas takes Redis' number, which does not count the primary.
func (s *Running) parseMinReplicas(value string) (func(), string) {
	n, ok := wire.ParseInt([]byte(value))
	in := Bounds{inSyncBounds.Min - 1, inSyncBounds.Max - 1}
	switch {
	case !ok:
		return nil, faultNumber
	case n < 0 || n > maxInt:
		return nil, Bounds{0, maxInt}.fault()
	case !in.has(n):
		return nil, in.fault()
	}
	return func() { s.MinInSync.Store(n + 1) }, ""
}

// parseScrubInterval takes seconds, or a time as flags have it.
func (s *Running) parseScrubInterval(value string) (func(), string) {
	d, err := time.ParseDuration(value)
	if n, ok := wire.ParseInt([]byte(value)); ok && n >= 0 && n <= scrubBounds.Max/int64(time.Second) {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || d != 0 && !scrubBounds.has(int64(d)) {
		return nil, "argument must be 0, which is never, or from 1m to 365 days: a number of seconds, or 24h, say"
	}
	return func() { s.ScrubEvery.Store(int64(d)) }, ""
}

func (s *Running) scrubIntervalText() string {
	return strconv.FormatInt(s.ScrubEvery.Load()/int64(time.Second), 10)
}
