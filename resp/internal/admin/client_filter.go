package admin

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A ClientFilter says which connections of type C CLIENT KILL closes; what is zero does not matter.
type ClientFilter[C any] struct {
	ID          int64
	Addr, LAddr []byte
	User        string
	MaxAge      int64        // in seconds: younger ones are left
	Is          func(C) bool // of a type
	SkipMe      bool
}

// ParseClientFilter reads the filters of CLIENT KILL. clientType returns what tells the connections of a type, and
// isUser whether there is a user. msg is an error reply, or "".
func ParseClientFilter[C any](args [][]byte, clientType func(name []byte) (is func(C) bool, ok bool), isUser func(name string) bool) (f ClientFilter[C], msg string) {
	f.SkipMe = true
	for ; len(args) > 0; args = args[2:] {
		if len(args) == 1 {
			return f, command.MsgSyntax
		}
		value := args[1]
		switch name := args[0]; {
		case wire.EqualFold(name, "id"):
			id, ok := wire.ParseInt(value)
			if !ok || id < 1 {
				return f, "ERR client-id should be greater than 0"
			}
			f.ID = id
		case wire.EqualFold(name, "maxage"):
			age, ok := wire.ParseInt(value)
			if !ok {
				return f, "ERR maxage is not an integer or out of range"
			}
			if age < 1 {
				return f, "ERR maxage should be greater than 0"
			}
			f.MaxAge = age
		case wire.EqualFold(name, "type"):
			is, ok := clientType(value)
			if !ok {
				return f, UnknownClientType(value)
			}
			f.Is = is
		case wire.EqualFold(name, "addr"):
			f.Addr = value
		case wire.EqualFold(name, "laddr"):
			f.LAddr = value
		case wire.EqualFold(name, "user"):
			if f.User = string(value); !isUser(f.User) {
				return f, "ERR No such user '" + string(command.Shown(value, 128)) + "'"
			}
		case wire.EqualFold(name, "skipme") && wire.EqualFold(value, "yes"):
			f.SkipMe = true
		case wire.EqualFold(name, "skipme") && wire.EqualFold(value, "no"):
			f.SkipMe = false
		default:
			return f, command.MsgSyntax
		}
	}
	return f, ""
}

// UnknownClientType is the error reply to a type of clients that does not exist.
func UnknownClientType(name []byte) string {
	return "ERR Unknown client type '" + string(command.Shown(name, 128)) + "'"
}
