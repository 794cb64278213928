package admin

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// There is one user, who may do everything. The commands about users describe it, and know
// the command.ACLCategories of commands.

const theUser = "default"

func cmdAclWhoami(x *call) { x.BulkString(theUser) }

func cmdAclUsers(x *call) {
	x.Array(1)
	x.BulkString(theUser)
}

// passwordHash is how Redis shows the password; empty if none is needed.
func (x *call) passwordHash() string {
	p := x.srv.Settings.PasswordText()
	if p == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(p))
	return hex.EncodeToString(sum[:])
}

func cmdAclList(x *call) {
	password := "nopass"
	if hash := x.passwordHash(); hash != "" {
		password = "#" + hash
	}
	x.Array(1)
	x.BulkString("user " + theUser + " on " + password + " ~* &* +@all")
}

func cmdAclGetuser(x *call) {
	if string(x.Args[2]) != theUser {
		x.Null()
		return
	}
	hash := x.passwordHash()
	flags, passwords := []string{"on"}, []string{hash}
	if hash == "" {
		flags, passwords = append(flags, "nopass"), nil
	}
	x.Map(6)
	x.BulkString("flags")
	x.Writer.Set(len(flags))
	for _, flag := range flags {
		x.BulkString(flag)
	}
	x.BulkString("passwords")
	x.Array(len(passwords))
	for _, p := range passwords {
		x.BulkString(p)
	}
	for _, rule := range [][2]string{{"commands", "+@all"}, {"keys", "~*"}, {"channels", "&*"}} {
		x.BulkString(rule[0])
		x.BulkString(rule[1])
	}
	x.BulkString("selectors")
	x.Array(0)
}

func cmdAclCat(x *call) {
	switch {
	case len(x.Args) == 2:
		x.Array(len(command.ACLCategories))
		for _, category := range command.ACLCategories {
			x.BulkString(category)
		}
	case len(x.Args) > 3:
		x.WrongSubcommand("ACL")
	case !slices.ContainsFunc(command.ACLCategories, func(c string) bool { return wire.EqualFold(x.Args[2], c) }):
		x.Error("ERR Unknown category '" + string(command.Shown(x.Args[2], 128)) + "'")
	default:
		category := "@" + strings.ToLower(string(x.Args[2]))
		var names []string
		for _, cmd := range x.srv.Table.All {
			if slices.Contains(cmd.ACL, category) {
				names = append(names, cmd.Full)
			}
		}
		x.Array(len(names))
		for _, name := range names {
			x.BulkString(name)
		}
	}
}

func cmdAclDryrun(x *call) {
	if string(x.Args[2]) != theUser {
		x.Error("ERR User '" + string(command.Shown(x.Args[2], 128)) + "' not found")
		return
	}
	args := x.Args[3:]
	cmd := x.srv.Table.Find(args)
	switch {
	case cmd == nil:
		x.Error("ERR Command '" + string(command.Shown(args[0], 128)) + "' not found")
	case !cmd.Takes(len(args)):
		x.Error("ERR wrong number of arguments for '" + cmd.Full + "' command")
	default:
		x.OK()
	}
}

// cmdAclGenpass returns as many bits as asked for, in hexadecimal digits.
func cmdAclGenpass(x *call) {
	const most = 4096
	bits := int64(256)
	if len(x.Args) > 3 {
		x.WrongSubcommand("ACL")
		return
	}
	if len(x.Args) == 3 {
		var ok bool
		if bits, ok = wire.ParseInt(x.Args[2]); !ok {
			x.Error(command.MsgNotInteger)
			return
		}
		if bits <= 0 || bits > most {
			x.Error("ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096")
			return
		}
	}
	digits := (bits + 3) / 4
	raw := make([]byte, (digits+1)/2)
	_, _ = rand.Read(raw) // cannot fail
	x.BulkString(hex.EncodeToString(raw)[:digits])
}

// cmdAclLog: nothing is denied to the one user.
func cmdAclLog(x *call) {
	if len(x.Args) == 3 && wire.EqualFold(x.Args[2], "reset") {
		x.OK()
		return
	}
	if len(x.Args) > 3 {
		x.WrongSubcommand("ACL")
		return
	}
	if len(x.Args) == 3 {
		if _, ok := wire.ParseInt(x.Args[2]); !ok {
			x.Error(command.MsgNotInteger)
			return
		}
	}
	x.Array(0)
}

func cmdAclHelp(x *command.Call) {
	command.Help(x, "ACL",
		"CAT [<category>]",
		"    List the command.ACLCategories of commands, or the commands of one.",
		"DRYRUN <username> <command> [<arg> ...]",
		"    Tell whether the user may run the command.",
		"GENPASS [<bits>]",
		"    Return random digits for a password (default: 256 bits).",
		"GETUSER <username>",
		"    Describe a user; there is one, default.",
		"LIST",
		"    List the users with their rules.",
		"LOG [<count> | RESET]",
		"    List what was denied; nothing is.",
		"USERS",
		"    List the names of the users.",
		"WHOAMI",
		"    Name the user of this connection.",
	)
}
