package resp

import (
	"fmt"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

// whole is as much of a name as an error repeats: none from a zero byte on.
func whole(name []byte) []byte { return shown(name, len(name)) }

// noGroup is the error for a group that is none of those at a key.
func (x *Call) noGroup(key, group []byte) {
	x.Error(fmt.Sprintf("NOGROUP No such key '%s' or consumer group '%s'", whole(key), whole(group)))
}

// group finds a group of the stream at a key, to change it; nil if there is none. It has
// replied, and returns false, if that cannot be.
func (x *Call) group(key, name []byte) (g *collection.Group, ok bool) {
	s := &x.stream
	if !x.openStream(s, key) {
		return nil, false
	}
	if x.cmd.parent == nil { // who claims and acknowledges is a reader
		x.looked(key, s.Value())
	}
	g, err := s.Group(name)
	if err != nil {
		x.fail(err)
	}
	return g, err == nil
}

// groupFound is group for commands that need one.
func (x *Call) groupFound(key, name []byte) (g *collection.Group, ok bool) {
	if g, ok = x.group(key, name); ok && g == nil {
		x.noGroup(key, name)
		return nil, false
	}
	return g, ok
}

// ownGroup is group for the subcommands of XGROUP and XINFO: args[3] of the stream at args[2],
// which must exist.
func (x *Call) ownGroup() (g *collection.Group, ok bool) {
	if g, ok = x.group(x.args[2], x.args[3]); !ok {
		return nil, false
	}
	if !x.stream.Value().Exists() {
		x.Error(msgNoStream)
		return nil, false
	}
	return g, true
}

// ownGroupFound is ownGroup for what needs one.
func (x *Call) ownGroupFound() (g *collection.Group, ok bool) {
	if g, ok = x.ownGroup(); ok && g == nil {
		x.noOwnGroup()
		return nil, false
	}
	return g, ok
}

func (x *Call) noOwnGroup() {
	x.Error(fmt.Sprintf("NOGROUP No such consumer group '%s' for key name '%s'", whole(x.args[3]), whole(x.args[2])))
}

const msgNoStream = "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically."

// groupOptions are the options of XGROUP CREATE and SETID. It has replied, and returns false,
// if they are none.
func (x *Call) groupOptions(create bool) (makes bool, read int64, ok bool) {
	read = collection.UnknownRead
	for args := x.args[5:]; len(args) > 0; args = args[1:] {
		switch {
		case create && wire.EqualFold(args[0], "mkstream"):
			makes = true
		case len(args) > 1 && wire.EqualFold(args[0], "entriesread"):
			if read, ok = wire.ParseInt(args[1]); !ok {
				x.Error(msgNotInteger)
				return false, 0, false
			}
			if read < 0 && read != collection.UnknownRead {
				x.Error("ERR value for ENTRIESREAD must be positive or -1")
				return false, 0, false
			}
			args = args[1:]
		default:
			x.wrongSubcommand("XGROUP")
			return false, 0, false
		}
	}
	return makes, read, true
}

// lastID reads args[4], where "$" is the stream's last ID. It has replied, and returns false,
// if it is none.
func (x *Call) lastID(any bool) (id collection.ID, ok bool) {
	word := x.args[4]
	switch {
	case string(word) == "$":
		return x.stream.Last, true
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

func cmdXgroupCreate(x *Call) {
	makes, read, ok := x.groupOptions(true)
	if !ok || !x.nameFits(x.args[3]) {
		return
	}
	g, ok := x.group(x.args[2], x.args[3])
	if !ok {
		return
	}
	s := &x.stream
	if !makes && !s.Value().Exists() {
		x.Error(msgNoStream)
		return
	}
	if len(x.args) > 8 {
		x.wrongSubcommand("XGROUP")
		return
	}
	last, ok := x.lastID(false)
	if !ok {
		return
	}
	if g != nil {
		x.Error("BUSYGROUP Consumer Group name already exists")
		return
	}
	if err := s.Create(); err != nil {
		x.fail(err)
		return
	}
	s.CreateGroup(x.args[3], last, read).Save()
	x.noteStream("xgroup-create", x.args[2])
	x.OK()
}

// nameFits reports whether a group or a consumer may be called so; otherwise it has replied.
func (x *Call) nameFits(name []byte) bool {
	if int64(len(name)) > x.limits.maxKey.Load() {
		x.Error(msgNameTooLong)
		return false
	}
	return true
}

func cmdXgroupSetid(x *Call) {
	_, read, ok := x.groupOptions(false)
	if !ok {
		return
	}
	g, ok := x.ownGroupFound()
	if !ok {
		return
	}
	if len(x.args) != 5 && len(x.args) != 7 {
		x.wrongSubcommand("XGROUP")
		return
	}
	if last, ok := x.lastID(true); ok {
		g.Set(last, read)
		g.Save()
		x.noteStream("xgroup-setid", x.args[2])
		x.OK()
	}
}

func cmdXgroupDestroy(x *Call) {
	g, ok := x.ownGroup()
	if !ok {
		return
	}
	if g != nil {
		g.Destroy()
		x.noteStream("xgroup-destroy", x.args[2])
	}
	x.Bool(g != nil)
}

func cmdXgroupCreateconsumer(x *Call) {
	if !x.nameFits(x.args[4]) {
		return
	}
	g, ok := x.ownGroupFound()
	if !ok {
		return
	}
	c, err := g.Consumer(x.args[4])
	if err != nil {
		x.fail(err)
		return
	}
	if c == nil {
		g.CreateConsumer(x.args[4], x.unit.Now())
		g.Save()
		x.noteStream(newConsumer, x.args[2])
	}
	x.Bool(c == nil)
}

func cmdXgroupDelconsumer(x *Call) {
	g, ok := x.ownGroupFound()
	if !ok {
		return
	}
	c, err := g.Consumer(x.args[4])
	if err == nil && c == nil {
		x.Int(0)
		return
	}
	if err == nil {
		err = g.RemoveConsumer(c)
	}
	if err != nil {
		x.abort(err)
		return
	}
	g.Save()
	x.noteStream("xgroup-delconsumer", x.args[2])
	x.Int(c.Pending)
}

const newConsumer = "xgroup-createconsumer"

// consumer returns the consumer of a group of the stream at a key, which it creates if it is
// missing, and notes that it was seen.
func (x *Call) consumer(g *collection.Group, key, name []byte) (*collection.Consumer, error) {
	n := g.Consumers
	c, err := g.Serve(name, x.unit.Now())
	if err == nil && g.Consumers > n {
		x.noteStream(newConsumer, key)
	}
	return c, err
}
