package streams

import (
	"fmt"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

// whole is as much of a name as an error repeats: none from a zero byte on.
func whole(name []byte) []byte { return command.Shown(name, len(name)) }

// shownKey is as much of the name of a key as an error repeats, without what its database adds.
func shownKey(key []byte) []byte { return whole(database.Name(key)) }

// noGroup is the error for a group that is none of those at a key.
func noGroup(x *command.Call, key, group []byte) {
	x.Error(fmt.Sprintf("NOGROUP No such key '%s' or consumer group '%s'", shownKey(key), whole(group)))
}

// group finds a group of the stream at a key, to change it; nil if there is none. It has
// replied, and returns false, if that cannot be.
func group(x *command.Call, key, name []byte) (g *collection.Group, ok bool) {
	s := &x.Stream
	if !openStream(x, s, key) {
		return nil, false
	}
	if x.Row.Parent == nil { // who claims and acknowledges is a reader
		x.CountLookup(key, s.Value())
	}
	g, err := s.Group(name)
	if err != nil {
		x.Fail(err)
	}
	return g, err == nil
}

// groupFound is group for commands that need one.
func groupFound(x *command.Call, key, name []byte) (g *collection.Group, ok bool) {
	if g, ok = group(x, key, name); ok && g == nil {
		noGroup(x, key, name)
		return nil, false
	}
	return g, ok
}

// ownGroup is group for the subcommands of XGROUP and XINFO: args[3] of the stream at args[2],
// which must exist.
func ownGroup(x *command.Call) (g *collection.Group, ok bool) {
	if g, ok = group(x, x.Args[2], x.Args[3]); !ok {
		return nil, false
	}
	if !x.Stream.Value().Exists() {
		x.Error(msgNoStream)
		return nil, false
	}
	return g, true
}

// ownGroupFound is ownGroup for what needs one.
func ownGroupFound(x *command.Call) (g *collection.Group, ok bool) {
	if g, ok = ownGroup(x); ok && g == nil {
		noOwnGroup(x)
		return nil, false
	}
	return g, ok
}

func noOwnGroup(x *command.Call) {
	x.Error(fmt.Sprintf("NOGROUP No such consumer group '%s' for key name '%s'", whole(x.Args[3]), shownKey(x.Args[2])))
}

const msgNoStream = "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically."

// groupOptions are the options of XGROUP CREATE and SETID. It has replied, and returns false,
// if they are none.
func groupOptions(x *command.Call, create bool) (makes bool, read int64, ok bool) {
	read = collection.UnknownRead
	for args := x.Args[5:]; len(args) > 0; args = args[1:] {
		switch {
		case create && wire.EqualFold(args[0], "mkstream"):
			makes = true
		case len(args) > 1 && wire.EqualFold(args[0], "entriesread"):
			if read, ok = wire.ParseInt(args[1]); !ok {
				x.Error(command.MsgNotInteger)
				return false, 0, false
			}
			if read < 0 && read != collection.UnknownRead {
				x.Error("ERR value for ENTRIESREAD must be positive or -1")
				return false, 0, false
			}
			args = args[1:]
		default:
			x.WrongSubcommand("XGROUP")
			return false, 0, false
		}
	}
	return makes, read, true
}

// lastID reads args[4], where "$" is the stream's last ID. It has replied, and returns false,
// if it is none.
func lastID(x *command.Call, any bool) (id collection.ID, ok bool) {
	word := x.Args[4]
	switch {
	case string(word) == "$":
		return x.Stream.Last, true
	case any:
		id, ok = parseAnyID(word, 0)
	default:
		id, ok = parseStreamID(word, 0)
	}
	if !ok {
		x.Error(msgStreamID)
	}
	return id, ok
}

func cmdXgroupCreate(x *command.Call) {
	makes, read, ok := groupOptions(x, true)
	if !ok || !nameFits(x, x.Args[3]) {
		return
	}
	g, ok := group(x, x.Args[2], x.Args[3])
	if !ok {
		return
	}
	s := &x.Stream
	if !makes && !s.Value().Exists() {
		x.Error(msgNoStream)
		return
	}
	if len(x.Args) > 8 {
		x.WrongSubcommand("XGROUP")
		return
	}
	last, ok := lastID(x, false)
	if !ok {
		return
	}
	if g != nil {
		x.Error("BUSYGROUP Consumer Group name already exists")
		return
	}
	if err := s.Create(); err != nil {
		x.Fail(err)
		return
	}
	s.CreateGroup(x.Args[3], last, read).Save()
	noteStream(x, "xgroup-create", x.Args[2])
	x.OK()
}

// nameFits reports whether a group or a consumer may be called so; otherwise it has replied.
func nameFits(x *command.Call, name []byte) bool {
	if int64(len(name)) > x.Limits.MaxKey.Load() {
		x.Error(command.MsgNameTooLong)
		return false
	}
	if string(name) == collection.ReservedName {
		x.Error("ERR the name is reserved")
		return false
	}
	return true
}

func cmdXgroupSetid(x *command.Call) {
	_, read, ok := groupOptions(x, false)
	if !ok {
		return
	}
	g, ok := ownGroupFound(x)
	if !ok {
		return
	}
	if len(x.Args) != 5 && len(x.Args) != 7 {
		x.WrongSubcommand("XGROUP")
		return
	}
	if last, ok := lastID(x, true); ok {
		g.Set(last, read)
		g.Save()
		noteStream(x, "xgroup-setid", x.Args[2])
		x.OK()
	}
}

func cmdXgroupDestroy(x *command.Call) {
	g, ok := ownGroup(x)
	if !ok {
		return
	}
	if g != nil {
		g.Destroy()
		noteStream(x, "xgroup-destroy", x.Args[2])
	}
	x.Bool(g != nil)
}

func cmdXgroupCreateconsumer(x *command.Call) {
	if !nameFits(x, x.Args[4]) {
		return
	}
	g, ok := ownGroupFound(x)
	if !ok {
		return
	}
	c, err := g.Consumer(x.Args[4])
	if err != nil {
		x.Fail(err)
		return
	}
	if c == nil {
		g.CreateConsumer(x.Args[4], x.Unit.Now())
		g.Save()
		noteStream(x, newConsumer, x.Args[2])
	}
	x.Bool(c == nil)
}

func cmdXgroupDelconsumer(x *command.Call) {
	g, ok := ownGroupFound(x)
	if !ok {
		return
	}
	c, err := g.Consumer(x.Args[4])
	if err == nil && (c == nil || string(c.Name) == collection.ReservedName) {
		x.Int(0)
		return
	}
	if err == nil {
		err = g.RemoveConsumer(c)
	}
	if err != nil {
		x.Abort(err)
		return
	}
	g.Save()
	noteStream(x, "xgroup-delconsumer", x.Args[2])
	x.Int(c.Pending)
}

const newConsumer = "xgroup-createconsumer"

// consumer returns the consumer of a group of the stream at a key, which it creates if it is
// missing, and notes that it was seen.
func consumer(x *command.Call, g *collection.Group, key, name []byte) (*collection.Consumer, error) {
	n := g.Consumers
	c, err := g.Serve(name, x.Unit.Now())
	if err == nil && g.Consumers > n {
		noteStream(x, newConsumer, key)
	}
	return c, err
}

// polled notes that a consumer has asked and got nothing. It is created if it is missing, as in Redis from
// 7.2 on.
func polled(x *command.Call, g *collection.Group, key, name []byte) error {
	n := g.Consumers
	err := g.Poll(name, x.Unit.Now())
	if err == nil && g.Consumers > n {
		noteStream(x, newConsumer, key)
	}
	return err
}
