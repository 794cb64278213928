package admin

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

func cmdAclWhoami(x *call) { x.BulkString(x.client.User()) }

func cmdAclUsers(x *call) {
	users := x.srv.Users.Now().All()
	x.Array(len(users))
	for _, u := range users {
		x.BulkString(u.Name())
	}
}

func cmdAclList(x *call) {
	lines := x.srv.Users.Now().Lines()
	x.Array(len(lines))
	for _, line := range lines {
		x.BulkString(line)
	}
}

func cmdAclGetuser(x *call) {
	u := x.srv.Users.Now().Get(string(x.Args[2]))
	if u == nil {
		x.Null()
		return
	}
	x.Map(6)
	x.BulkString("flags")
	x.Writer.Set(len(u.Flags()))
	for _, flag := range u.Flags() {
		x.BulkString(flag)
	}
	x.BulkString("passwords")
	x.Array(len(u.Passwords()))
	for _, p := range u.Passwords() {
		x.BulkString(p)
	}
	selectors := u.Selectors()
	x.selector(selectors[0])
	x.BulkString("selectors")
	x.Array(len(selectors) - 1)
	for _, s := range selectors[1:] {
		x.Map(3)
		x.selector(s)
	}
}

func (x *call) selector(s acl.Description) {
	for _, field := range [][2]string{{"commands", s.Commands}, {"keys", s.Keys}, {"channels", s.Channels}} {
		x.BulkString(field[0])
		x.BulkString(field[1])
	}
}

// changesUsers runs a change of users. It replies if that fails, and returns false.
func (x *call) changesUsers(change func(ctx context.Context) error) bool {
	if err := x.client.ChangeUsers(change); err != nil {
		x.Error(command.ErrorText(err))
		return false
	}
	return true
}

func cmdAclSetuser(x *call) {
	rules := make([]string, len(x.Args)-3)
	for i, arg := range x.Args[3:] {
		rules[i] = string(arg)
	}
	if x.changesUsers(func(ctx context.Context) error { return x.srv.Users.SetUser(ctx, string(x.Args[2]), rules) }) {
		x.OK()
	}
}

// hideUser hides the name and the rules of ACL SETUSER.
func hideUser(args [][]byte, hide func(from, to int)) { hide(2, len(args)) }

func cmdAclDeluser(x *call) {
	names, n := make([]string, len(x.Args)-2), 0
	for i, arg := range x.Args[2:] {
		names[i] = string(arg)
	}
	if x.changesUsers(func(ctx context.Context) error {
		for _, name := range names {
			if name == acl.DefaultName {
				return acl.ErrDefault
			}
		}
		var err error
		n, err = x.srv.Users.Delete(ctx, names)
		return err
	}) {
		x.Int(int64(n))
	}
}

func cmdAclLoad(x *call) {
	if x.changesUsers(x.srv.Users.Load) {
		x.OK()
	}
}

func cmdAclSave(x *call) {
	if err := x.srv.Users.Save(); err != nil {
		x.Error("ERR " + err.Error())
		return
	}
	x.OK()
}

func cmdAclCat(x *call) {
	if len(x.Args) > 3 {
		x.WrongSubcommand("ACL")
		return
	}
	names, ok := x.srv.Users.Catalog.Categories(), true
	if len(x.Args) == 3 {
		names, ok = x.srv.Users.Catalog.Members(string(x.Args[2]))
	}
	if !ok {
		x.Error("ERR Unknown category '" + string(command.Shown(x.Args[2], 128)) + "'")
		return
	}
	x.Array(len(names))
	for _, name := range names {
		x.BulkString(name)
	}
}

func cmdAclDryrun(x *call) {
	u := x.srv.Users.Now().Get(string(x.Args[2]))
	if u == nil {
		x.Error("ERR User '" + string(command.Shown(x.Args[2], 128)) + "' not found")
		return
	}
	args := x.Args[3:]
	cmd := x.srv.Table.Find(args)
	switch {
	case cmd == nil:
		x.Error("ERR Command '" + string(command.Shown(args[0], 128)) + "' not found")
		return
	case !cmd.Takes(len(args)):
		x.Error("ERR wrong number of arguments for '" + cmd.Full + "' command")
		return
	}
	made := acl.Call{Row: cmd, Args: args}
	d, _ := u.Check(&made, nil)
	if text := d.DryrunText(&made, u.Name()); text != "OK" {
		x.BulkString(text)
		return
	}
	x.OK()
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

func cmdAclLog(x *call) {
	if len(x.Args) > 3 {
		x.WrongSubcommand("ACL")
		return
	}
	count := int64(10)
	if len(x.Args) == 3 {
		if wire.EqualFold(x.Args[2], "reset") {
			x.srv.Users.Log.Reset()
			x.OK()
			return
		}
		var ok bool
		if count, ok = wire.ParseInt(x.Args[2]); !ok {
			x.Error(command.MsgNotInteger)
			return
		}
	}
	entries := x.srv.Users.Log.Newest(count)
	x.Array(len(entries))
	for i := range entries {
		e := &entries[i]
		x.Map(10)
		x.BulkString("count")
		x.Int(e.Count)
		for _, field := range [][2]string{{"reason", e.Reason}, {"context", e.Context}, {"object", e.Object}, {"username", e.User}} {
			x.BulkString(field[0])
			x.BulkString(field[1])
		}
		x.BulkString("age-seconds")
		x.Double(time.Since(e.At).Truncate(time.Millisecond).Seconds())
		x.BulkString("client-info")
		x.BulkString(e.Client)
		x.BulkString("entry-id")
		x.Int(e.ID)
		x.BulkString("timestamp-created")
		x.Int(e.Created.UnixMilli())
		x.BulkString("timestamp-last-updated")
		x.Int(e.At.UnixMilli())
	}
}

func cmdAclHelp(x *command.Call) {
	command.Help(x, "ACL",
		"CAT [<category>]",
		"    List the categories of commands, or the commands of one.",
		"DELUSER <username> [<username> ...]",
		"    Remove users, and end their connections.",
		"DRYRUN <username> <command> [<arg> ...]",
		"    Tell whether the user may run the command.",
		"GENPASS [<bits>]",
		"    Return random digits for a password (default: 256 bits).",
		"GETUSER <username>",
		"    Describe a user.",
		"LIST",
		"    List the users with their rules, as lines of an ACL file.",
		"LOAD",
		"    Make the users of the ACL file those of the cluster, and remove all others.",
		"LOG [<count> | RESET]",
		"    List what was denied by this node.",
		"SAVE",
		"    Write the users to the ACL file of this node.",
		"SETUSER <username> <rule> [<rule> ...]",
		"    Create or change a user, on all nodes.",
		"USERS",
		"    List the names of the users.",
		"WHOAMI",
		"    Name the user of this connection.",
	)
}
