package bloom

import (
	"errors"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/bloom"
	"github.com/ringside-kv/ringside/store/collection"
	"github.com/ringside-kv/ringside/store/rdb"
)

// Errors in RedisBloom's words.
const (
	msgNotFound = "ERR not found"
	msgExists   = "ERR item exists"
	msgBadData  = "ERR received bad data"
	msgFull     = "ERR non scaling filter is full"
	msgTooLarge = "ERR Insufficient memory to create filter" // it would be larger than a value may be
	msgInsert   = "ERR problem inserting into filter"        // it would become so
	msgNoIter   = "ERR Second argument must be numeric"
	msgItems    = "ERR too many items at once for the number of filters" // RedisBloom has no such error
)

// chunkBytes is how many bytes BF.SCANDUMP returns at once.
const chunkBytes = 1 << 20

// newFilter returns a filter that has not been opened.
func newFilter(x *command.Call) *collection.Filter {
	return &collection.Filter{MaxPacked: int(x.Limits.Packed.Load()), MaxBytes: x.Limits.MaxValue.Load(), Grow: x.Take}
}

// open opens the filter at args[1]. It has replied, and returns false, if that is not possible.
func open(x *command.Call) (*collection.Filter, bool) {
	read := x.Unit.Get
	if x.Row.Flags&command.FlagReadonly != 0 {
		read = x.Unit.GetWhole
	}
	v, err := read(x.Args[1])
	if err != nil {
		x.Fail(err)
		return nil, false
	}
	x.CountRead(x.Args[1], &v)
	f := newFilter(x)
	if err := f.Open(x.Unit, x.Args[1], v); err != nil {
		x.Fail(err)
		return nil, false
	}
	return f, true
}

// openFound is open for commands that need a filter.
func openFound(x *command.Call) (*collection.Filter, bool) {
	f, ok := open(x)
	if ok && f.Chain() == nil {
		x.Error(msgNotFound)
		return nil, false
	}
	return f, ok
}

const (
	// keepFrom is for how many items blocks that were read are kept.
	keepFrom = 8
	// maxLookups bounds the items of a command, each once for each filter of the chain.
	maxLookups = 1 << 25
)

// openFor is open for a command with items.
func openFor(x *command.Call, items [][]byte) (*collection.Filter, bool) {
	f, ok := open(x)
	if !ok {
		return nil, false
	}
	f.Keep = len(items) >= keepFrom
	if c := f.Chain(); c != nil && int64(len(items))*int64(len(c.Links)) > maxLookups {
		x.RefuseByLimit(msgItems)
		return nil, false
	}
	return f, true
}

// fail replies with an error of a filter.
func fail(x *command.Call, err error) {
	switch {
	case errors.Is(err, collection.ErrNoMemory):
		x.RefuseByLimit(command.MsgNoMemory)
	case errors.Is(err, bloom.ErrTooLarge):
		x.RefuseByLimit(msgTooLarge)
	case errors.Is(err, bloom.ErrForm):
		x.Error(msgBadData)
	default:
		x.Fail(err)
	}
}

// save writes what has changed. It has replied if it returns false.
func save(x *command.Call, f *collection.Filter) bool {
	err := x.OpenTypes(x.MayWait)
	if err == nil {
		err = f.Save()
	}
	if err != nil {
		fail(x, err)
	}
	return err == nil
}

func cmdReserve(x *command.Call) {
	o, msg := parseReserve(x.Args[2:])
	if msg != "" {
		x.Error(msg)
		return
	}
	f, ok := open(x)
	switch {
	case !ok:
		return
	case f.Chain() != nil:
		x.Error(msgExists)
		return
	}
	if create(x, f, &o) && save(x, f) {
		x.OK()
	}
}

// create begins a filter. It has replied if it returns false.
func create(x *command.Call, f *collection.Filter, o *options) bool {
	chain, err := o.chain(x.Limits.MaxValue.Load())
	if err != nil {
		fail(x, err)
		return false
	}
	f.Create(chain)
	return true
}

func cmdAdd(x *command.Call) { add(x, x.Args[2:], false) }

func cmdMadd(x *command.Call) { add(x, x.Args[2:], true) }

func add(x *command.Call, items [][]byte, several bool) {
	o := defaults()
	o.items = items
	insert(x, &o, several)
}

func cmdInsert(x *command.Call) {
	o, msg := parseInsert(x.Args[2:])
	switch {
	case msg != "":
		x.Error(msg)
	case len(o.items) == 0:
		x.Error("ERR wrong number of arguments for '" + x.Row.Full + "' command")
	default:
		insert(x, &o, true)
	}
}

// insert adds items. Those behind one that cannot be added are left out, and the reply ends with its error.
func insert(x *command.Call, o *options, several bool) {
	f, ok := openFor(x, o.items)
	if !ok {
		return
	}
	changed := f.Chain() == nil
	if changed {
		if o.noCreate {
			x.Error(msgNotFound)
			return
		}
		if !create(x, f, o) {
			return
		}
	}
	added, last, lookups := make([]bool, 0, len(o.items)), "", int64(0)
	for _, item := range o.items {
		if lookups += int64(len(f.Chain().Links)); lookups > maxLookups { // the chain has grown meanwhile
			last = msgItems
			break
		}
		fresh, err := f.Add(bloom.HashOf(item))
		switch {
		case errors.Is(err, bloom.ErrFull):
			last = msgFull
		case errors.Is(err, bloom.ErrTooLarge):
			last = msgInsert
		case err != nil:
			fail(x, err) // nothing is written
			return
		}
		if last != "" {
			break
		}
		added, changed = append(added, fresh), changed || fresh
	}
	n := len(added)
	if last != "" {
		n++
	}
	if !x.FitsReply(int64(n) * command.ElementReply) {
		x.ReplyTooLarge()
		return
	}
	if changed && !save(x, f) {
		return
	}
	if several {
		x.Array(n)
	}
	for _, fresh := range added {
		replyBool(x, fresh)
	}
	if last != "" {
		x.Error(last)
	}
}

// replyBool replies with a boolean, an integer in RESP2.
func replyBool(x *command.Call, b bool) {
	switch {
	case x.Proto < 3:
		x.Bool(b)
	case b:
		x.Buf = append(x.Buf, "#t\r\n"...)
	default:
		x.Buf = append(x.Buf, "#f\r\n"...)
	}
}

func cmdExists(x *command.Call) { exists(x, false) }

func cmdMexists(x *command.Call) { exists(x, true) }

func exists(x *command.Call, several bool) {
	items, at := x.Args[2:], len(x.Buf)
	f, ok := openFor(x, items)
	if !ok {
		return
	}
	if !x.FitsReply(int64(len(items)) * command.ElementReply) {
		x.ReplyTooLarge()
		return
	}
	if several {
		x.Array(len(items))
	}
	for _, item := range items {
		has := false
		if f.Chain() != nil {
			var err error
			if has, err = f.Contains(bloom.HashOf(item)); err != nil {
				x.Buf = x.Buf[:at]
				fail(x, err)
				return
			}
		}
		replyBool(x, has)
	}
}

func cmdCard(x *command.Call) {
	f, ok := open(x)
	switch {
	case !ok:
	case f.Chain() == nil:
		x.Int(0)
	default:
		x.Int(int64(f.Chain().Size))
	}
}

// A fact is one of BF.INFO, by the word that asks for it.
type fact struct {
	word, name string
	of         func(*bloom.Chain) int64
}

var facts = []fact{
	{"capacity", "Capacity", func(c *bloom.Chain) int64 { return int64(c.Capacity()) }},
	{"size", "Size", (*bloom.Chain).Memory},
	{"filters", "Number of filters", func(c *bloom.Chain) int64 { return int64(len(c.Links)) }},
	{"items", "Number of items inserted", func(c *bloom.Chain) int64 { return int64(c.Size) }},
	{"expansion", "Expansion rate", func(c *bloom.Chain) int64 { return int64(c.Growth) }},
}

func cmdInfo(x *command.Call) {
	if len(x.Args) > 3 {
		x.Error("ERR wrong number of arguments for '" + x.Row.Full + "' command")
		return
	}
	f, ok := openFound(x)
	if !ok {
		return
	}
	if len(x.Args) == 2 {
		x.Map(len(facts))
		for i := range facts {
			x.Simple(facts[i].name)
			facts[i].reply(x, f.Chain())
		}
		return
	}
	for i := range facts {
		if !wire.EqualFold(x.Args[2], facts[i].word) {
			continue
		}
		if x.Proto >= 3 {
			x.Map(1)
			x.Simple(facts[i].name)
		} else {
			x.Array(1)
		}
		facts[i].reply(x, f.Chain())
		return
	}
	x.Error("ERR Invalid information value")
}

func (f *fact) reply(x *command.Call, c *bloom.Chain) {
	if f.word == "expansion" && c.IsFixed() {
		x.Null()
	} else {
		x.Int(f.of(c))
	}
}

// placeOf returns the filter that a byte of all bits lies in, and where; ok is false if there are not so many.
func placeOf(c *bloom.Chain, at int64) (link int, from uint64, ok bool) {
	for i := range c.Links {
		n := int64(c.Links[i].Bytes())
		if at < n {
			return i, uint64(at), at >= 0
		}
		at -= n
	}
	return 0, 0, false
}

func cmdScandump(x *command.Call) {
	f, ok := openFound(x)
	if !ok {
		return
	}
	at, ok := wire.ParseInt(x.Args[2])
	if !ok {
		x.Error(msgNoIter)
		return
	}
	if at == 0 {
		x.Array(2)
		x.Int(1)
		x.Bulk(f.Chain().AppendHead(nil))
		return
	}
	link, from, ok := placeOf(f.Chain(), at-1)
	if !ok {
		x.Array(2)
		x.Int(0)
		x.BulkString("")
		return
	}
	n := min(f.Chain().Links[link].Bytes()-from, chunkBytes)
	if x.RunApart(int64(n)) {
		return
	}
	data, err := f.Append(make([]byte, 0, n), link, from, n)
	if err != nil {
		x.Fail(err)
		return
	}
	x.Array(2)
	x.Int(at + int64(n))
	x.Bulk(data)
}

func cmdLoadchunk(x *command.Call) {
	at, ok := wire.ParseInt(x.Args[2])
	if !ok {
		x.Error(msgNoIter)
		return
	}
	f, ok := open(x)
	if !ok {
		return
	}
	data := x.Args[3]
	switch {
	case f.Chain() == nil && at != 1:
		x.Error(msgNotFound)
		return
	case f.Chain() == nil:
		chain, rest, err := bloom.ReadHead(data, x.Limits.MaxValue.Load())
		if err == nil && len(rest) > 0 {
			err = bloom.ErrForm
		}
		if err != nil {
			fail(x, err)
			return
		}
		f.Create(chain)
	case at <= 0 || at < int64(len(data)) || len(data) == 0:
		x.Error(msgBadData)
		return
	default:
		link, from, ok := placeOf(f.Chain(), at-int64(len(data))-1)
		if !ok {
			x.Error("ERR invalid offset - no link found")
			return
		}
		if uint64(len(data)) > f.Chain().Links[link].Bytes()-from {
			x.Error("ERR invalid chunk - Too big for current filter")
			return
		}
		if err := f.Write(link, from, data); err != nil {
			fail(x, err)
			return
		}
	}
	if save(x, f) {
		x.OK()
	}
}

// Restore makes what a payload holds the value of a key, which was old.
func Restore(x *command.Call, key []byte, old store.Value, payload *rdb.Value, expiry int64) error {
	f := newFilter(x)
	err := x.OpenTypes(x.MayWait)
	if err == nil {
		old, err = f.Restore(x.Unit, key, old, payload)
	}
	if err == nil {
		x.Unit.SetExpiry(key, old, expiry)
	}
	return err
}
