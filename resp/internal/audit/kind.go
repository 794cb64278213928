package audit

import (
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
)

// A Kind is the field "event" of a line.
type Kind string

// The kinds of events.
const (
	None    Kind = ""        // no event
	Auth    Kind = "auth"    // a login: AUTH, HELLO, or a certificate
	ACL     Kind = "acl"     // a change of users
	Ring    Kind = "ring"    // an order to the cluster
	Admin   Kind = "admin"   // any other command of administration
	Refused Kind = "refused" // a command that its user may not run
	dropped Kind = "dropped" // the last line of a log that has dropped events
)

// KindOf returns as what a command is audited that runs.
func KindOf(cmd *command.Row) Kind {
	switch {
	case cmd.Between:
		return None
	case cmd.Full == "acl|setuser" || cmd.Full == "acl|deluser" || cmd.Full == "acl|load" || cmd.Full == "acl|save":
		return ACL
	case cmd.Flags&command.FlagAdmin != 0 && strings.HasPrefix(cmd.Full, "ring|"):
		return Ring
	case cmd.Flags&command.FlagAdmin != 0 || cmd.Full == "flushall" || cmd.Full == "flushdb":
		return Admin
	}
	return None
}

// ObjectOf returns what a line names beside the command: the users that ACL changes, the parameters that
// CONFIG SET changes, the server of REPLICAOF. All else among the arguments may be a value.
func ObjectOf(cmd *command.Row, args [][]byte) string {
	var names []string
	switch {
	case cmd.Full == "acl|setuser" && len(args) > 2:
		names = append(names, string(args[2]))
	case cmd.Full == "acl|deluser":
		for _, name := range args[2:] {
			names = append(names, string(name))
		}
	case cmd.Full == "replicaof" || cmd.Full == "slaveof":
		for _, word := range args[1:] {
			names = append(names, string(word))
		}
	case cmd.Full == "config|set" && len(args)%2 == 0:
		for i := 2; i < len(args); i += 2 {
			names = append(names, string(args[i]))
		}
	}
	return strings.Join(names, " ")
}

// maxOrder bounds the text of an order, in bytes.
const maxOrder = 200

// OrderOf returns an order to the cluster as everybody may see it: RING or REPLICAOF with its words, without those that name
// users, and cut where it is long.
func OrderOf(cmd *command.Row, args [][]byte) string {
	name := strings.ToUpper(strings.ReplaceAll(cmd.Full, "|", " "))
	if cmd.Full == "ring|user" {
		return name
	}
	words := append([]string{name}, make([]string, 0, len(args))...)
	for _, arg := range args[min(1+strings.Count(name, " "), len(args)):] {
		words = append(words, string(arg[:min(len(arg), maxOrder)]))
		if len(words) > maxOrder/2 {
			break
		}
	}
	text := strings.ToValidUTF8(strings.Join(words, " "), "?")
	if len(text) > maxOrder {
		text = strings.ToValidUTF8(text[:maxOrder], "") + "…"
	}
	return text
}
