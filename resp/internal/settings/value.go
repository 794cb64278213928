package settings

import (
	"fmt"
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
	text = strings.ToLower(text)
	for _, u := range memoryUnits {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || n > uint64(math.MaxInt64/u.bytes) {
			return 0, false
		}
		return int64(n) * u.bytes, true
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

// bufferLimits shows the output buffer's limit as Redis does, by class of client:
// hard limit, soft limit, seconds that this may be exceeded. One limit holds for
// replies and for what is pushed; there are no replicas among the clients.
func bufferLimits(limit int64) string {
	return fmt.Sprintf("normal %d 0 0 slave 0 0 0 pubsub %d 0 0", limit, limit)
}

// parseBufferLimits takes what bufferLimits shows, and a new hard limit for normal
// clients, which holds for the others, too.
func (s *Running) parseBufferLimits(value string) (func(), string) {
	words := strings.Fields(value)
	if len(words) == 0 || len(words)%4 != 0 {
		return nil, "Wrong number of arguments in buffer limit configuration."
	}
	limit := s.OutputBuffer.Load()
	pubsub := int64(-1)
	for ; len(words) > 0; words = words[4:] {
		hard, ok := ParseMemory(words[1])
		soft, okSoft := ParseMemory(words[2])
		seconds, err := strconv.ParseUint(words[3], 10, 31)
		if !ok || !okSoft || err != nil {
			return nil, "Error in hard, soft or soft_seconds setting in buffer limit configuration."
		}
		if soft != 0 || seconds != 0 {
			return nil, "soft limits are not supported: they must be 0 0"
		}
		switch strings.ToLower(words[0]) {
		case "normal":
			if !outputBufferBounds.has(hard) {
				return nil, outputBufferBounds.fault()
			}
			limit = hard
		case "pubsub":
			pubsub = hard
		case "slave", "replica":
			if hard != 0 {
				return nil, "there are no replicas among the clients: their limits must be 0 0 0"
			}
		default:
			return nil, "Invalid client class specified in buffer limit configuration."
		}
	}
	if pubsub >= 0 && pubsub != limit {
		return nil, "pubsub clients have the limit of normal ones"
	}
	return func() { s.OutputBuffer.Store(limit) }, ""
}

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
		return nil, "argument couldn't be parsed into an integer"
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
