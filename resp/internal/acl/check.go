package acl

import (
	"strings"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A Reason is why a call is refused. Greater ones tell more.
type Reason uint8

// The reasons.
const (
	Allowed Reason = iota
	DeniedCommand
	DeniedKey
	DeniedChannel
	// DeniedBy and DeniedGet: the options BY and GET of SORT read any key.
	DeniedBy
	DeniedGet
)

// A Denial says why a call is refused, and which argument is the key or channel.
type Denial struct {
	Reason Reason
	Pos    int32
}

// A Call is a command with its arguments.
type Call struct {
	Row  *command.Row
	Args [][]byte
	// Stored says that the keys among the arguments are stored keys (package database).
	Stored bool

	keys  []command.KeyRef
	found bool
}

// Check reports whether the user may make a call. scratch is memory for its keys, which comes back.
func (u *User) Check(call *Call, scratch []command.KeyRef) (Denial, []command.KeyRef) {
	if u.unrestricted {
		return Denial{}, scratch
	}
	call.keys, call.found = scratch[:0], false
	worst := Denial{Reason: DeniedCommand}
	for _, s := range u.selectors {
		d := s.check(u.catalog, call)
		if d.Reason == Allowed {
			if d = u.checkSort(call); d.Reason != Allowed {
				worst = d
			} else {
				worst = Denial{}
			}
			break
		}
		if d.Reason > worst.Reason || d.Reason == worst.Reason && d.Pos > worst.Pos {
			worst = d
		}
	}
	return worst, call.keys
}

func (s *selector) check(c *Catalog, call *Call) Denial {
	row := call.Row
	if !s.commands.has(row.ID) && row.Flags&command.FlagNoAuth == 0 && !s.allowsFirst(call) {
		return Denial{Reason: DeniedCommand}
	}
	if !s.allKeys && row.HasKeys() {
		call.findKeys()
		for _, ref := range call.keys {
			key := call.Args[ref.Pos]
			if call.Stored {
				key = database.Name(key)
			}
			need := c.needs[row.ID][ref.Spec]
			if need == varies {
				need = accessOf(row.KeyFlags(ref, call.Args))
			}
			if !s.allowsKey(key, need) {
				return Denial{DeniedKey, int32(ref.Pos)}
			}
		}
	}
	if !s.anywhere && c.channels[row.ID] != noChannels {
		return s.checkChannels(c.channels[row.ID], call.Args)
	}
	return Denial{}
}

// findKeys finds the keys of the call, once for all selectors. What is no call in the eyes of its command has
// no keys, and touches none.
func (call *Call) findKeys() {
	if !call.found {
		call.keys, _ = call.Row.KeysOf(call.Args, call.keys)
		call.found = true
	}
}

func (s *selector) allowsFirst(call *Call) bool {
	args := s.first[call.Row.ID]
	if len(args) == 0 || len(call.Args) < 2 {
		return false
	}
	for _, arg := range args {
		if strings.EqualFold(arg, string(call.Args[1])) {
			return true
		}
	}
	return false
}

func (s *selector) allowsKey(key []byte, need access) bool {
	for i := range s.keys {
		if p := &s.keys[i]; p.access&need == need && p.matches(key) {
			return true
		}
	}
	return false
}

func (s *selector) checkChannels(use channelUse, args [][]byte) Denial {
	last := len(args)
	if use == firstIsChannel {
		last = 2
	}
	for i := 1; i < last; i++ {
		if !AllowsChannel(s.channels, args[i], use == allArePatterns) {
			return Denial{DeniedChannel, int32(i)}
		}
	}
	return Denial{}
}

// readsEverything reports whether the selector may read any key.
func (s *selector) readsEverything() bool {
	if s.allKeys {
		return true
	}
	for i := range s.keys {
		if s.keys[i].text == "*" && s.keys[i].access&reads != 0 {
			return true
		}
	}
	return false
}

// checkSort checks the options of SORT that read keys which are not among its arguments: a selector that allows
// the call has to allow the reading of all keys.
func (u *User) checkSort(call *Call) Denial {
	if name := call.Row.Full; name != "sort" && name != "sort_ro" {
		return Denial{}
	}
	d := sortOption(call.Args)
	if d.Reason == Allowed {
		return d
	}
	for _, s := range u.selectors {
		if s.readsEverything() && s.check(u.catalog, call).Reason == Allowed {
			return Denial{}
		}
	}
	return d
}

// sortOption returns the first option of SORT that reads any keys, if it is not behind a syntax error.
func sortOption(args [][]byte) Denial {
	for i := 2; i < len(args); i++ {
		left := len(args) - i - 1
		switch arg := args[i]; {
		case wire.EqualFold(arg, "asc"), wire.EqualFold(arg, "desc"), wire.EqualFold(arg, "alpha"):
		case wire.EqualFold(arg, "limit") && left >= 2:
			_, ok1 := wire.ParseInt(args[i+1])
			_, ok2 := wire.ParseInt(args[i+2])
			if i += 2; !ok1 || !ok2 {
				return Denial{}
			}
		case wire.EqualFold(arg, "store") && left >= 1:
			i++
		case wire.EqualFold(arg, "by") && left >= 1:
			if i++; strings.Contains(string(args[i]), "*") {
				return Denial{DeniedBy, int32(i)}
			}
		case wire.EqualFold(arg, "get") && left >= 1:
			return Denial{DeniedGet, int32(i + 1)}
		default:
			return Denial{}
		}
	}
	return Denial{}
}

// Text returns the reply to a command that is refused to a user.
func (d Denial) Text(row *command.Row, user string) string {
	switch d.Reason {
	case DeniedBy:
		return "ERR BY option of SORT denied due to insufficient ACL permissions."
	case DeniedGet:
		return "ERR GET option of SORT denied due to insufficient ACL permissions."
	case Allowed, DeniedCommand, DeniedKey, DeniedChannel:
	}
	return "NOPERM " + d.why(row, user)
}

// why names what the user may not do, but no key or channel.
func (d Denial) why(row *command.Row, user string) string {
	switch d.Reason {
	case DeniedKey:
		return "No permissions to access a key"
	case DeniedChannel:
		return "No permissions to access a channel"
	case Allowed, DeniedCommand, DeniedBy, DeniedGet:
	}
	return "User " + user + " has no permissions to run the '" + row.Full + "' command"
}

// ScriptText returns the error of a command that a script may not call for its user.
func (d Denial) ScriptText(row *command.Row, user string) string {
	if d.Reason == DeniedBy || d.Reason == DeniedGet {
		return d.Text(row, user)
	}
	return "ERR ACL failure in script: " + d.why(row, user)
}

// ExecText returns the reply to a command of a transaction that was allowed when it was queued.
func (d Denial) ExecText() string {
	reason := "no permission to execute the command or subcommand"
	switch d.Reason {
	case DeniedKey:
		reason = "no permission to touch the specified keys"
	case DeniedChannel:
		reason = "no permission to access one of the channels used as arguments"
	case DeniedBy, DeniedGet:
		return d.Text(nil, "")
	case Allowed, DeniedCommand:
	}
	return "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is no longer allowed for the following reason: " + reason
}

// DryrunText returns what ACL DRYRUN replies of a call of a user.
func (d Denial) DryrunText(call *Call, user string) string {
	switch d.Reason {
	case DeniedKey:
		return "User " + user + " has no permissions to access the '" + string(call.Args[d.Pos]) + "' key"
	case DeniedChannel:
		return "User " + user + " has no permissions to access the '" + string(call.Args[d.Pos]) + "' channel"
	case DeniedCommand:
		return d.why(call.Row, user)
	case Allowed, DeniedBy, DeniedGet: // Redis looks at these options when it sorts
	}
	return "OK"
}
