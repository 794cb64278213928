package script

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// A Script is a compiled script. It never changes, so any goroutine may use it.
type Script struct {
	Body string
	// SHA is the SHA-1 of the body, in hex digits: by which the script is called.
	SHA string
	// Flagged tells that the script begins with a line that says what it does, and Flags
	// what that line says.
	Flagged bool
	Flags   Flags
	proto   *lua.Proto
}

// Flags are what a script says of itself.
type Flags uint8

// The flags of Redis 7.0.
const (
	NoWrites Flags = 1 << iota
	AllowOOM
	AllowStale
	NoCluster
	AllowCrossSlotKeys
)

// flagNames are by their bits.
var flagNames = []string{"no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"}

// flagNamed returns the flag of a name.
func flagNamed(name string) (f Flags, ok bool) {
	i := slices.Index(flagNames, name)
	return 1 << max(i, 0), i >= 0
}

// Names returns the names of the flags, in the order of their bits.
func (f Flags) Names() (names []string) {
	for i, name := range flagNames {
		if f>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return names
}

// MaxBody is how long a script may be, in bytes.
const MaxBody = 4 << 20

// SHA returns by what a script is called.
func SHA(body string) string {
	sum := sha1.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}

// Compile compiles a script. The error is what Redis replies, with its code.
func Compile(body string) (*Script, error) {
	s := &Script{Body: body, SHA: SHA(body)}
	code := body
	if strings.HasPrefix(body, "#!") {
		line, rest, ok := strings.Cut(body, "\n")
		if !ok {
			return nil, errors.New("ERR Invalid script shebang")
		}
		s.Flagged = true
		if err := s.flags(line); err != nil {
			return nil, err
		}
		code = "\n" + rest // lines keep their numbers
	}
	if len(code) > MaxBody {
		return nil, fmt.Errorf("ERR the script is longer than %d bytes", MaxBody)
	}
	proto, err := lua.Compile(code, "@"+scriptSource)
	if err != nil {
		return nil, fmt.Errorf("ERR Error compiling script (new function): %w", err)
	}
	s.proto = proto
	return s, nil
}

// flags reads the line that a script begins with.
func (s *Script) flags(line string) error {
	words := strings.Fields(line)
	if words[0] != "#!lua" {
		return fmt.Errorf("ERR Unexpected engine in script shebang: %s", words[0])
	}
	for _, word := range words[1:] {
		list, ok := strings.CutPrefix(word, "flags=")
		if !ok {
			return fmt.Errorf("ERR Unknown lua shebang option: %s", word)
		}
		if list == "" {
			continue
		}
		for name := range strings.SplitSeq(list, ",") {
			flag, ok := flagNamed(name)
			if !ok {
				return fmt.Errorf("ERR Unexpected flag in script shebang: %s", name)
			}
			s.Flags |= flag
		}
	}
	return nil
}

// Size returns about how much memory the script takes, in bytes.
func (s *Script) Size() int { return len(s.Body) + s.proto.Bytes() }
