package streams

import (
	"cmp"
	"fmt"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

// fullCount is how many entries, and how much of what is pending, XINFO STREAM FULL shows
// unless it is told.
const fullCount = 10

func cmdXinfoStream(x *command.Call) {
	full, count := len(x.Args) > 3, int64(fullCount)
	s, ok := streamFound(x)
	if !ok {
		return
	}
	if full {
		if !wire.EqualFold(x.Args[3], "full") || len(x.Args) != 4 && len(x.Args) != 6 || len(x.Args) == 6 && !wire.EqualFold(x.Args[4], "count") {
			x.WrongSubcommand("XINFO")
			return
		}
		if len(x.Args) == 6 {
			if count, ok = wire.ParseInt(x.Args[5]); !ok {
				x.Error(command.MsgNotInteger)
				return
			}
			if count < 0 {
				count = fullCount
			}
		}
	}
	var err error
	if full {
		x.Map(9)
		streamHead(x, s)
		err = streamFull(x, s, count)
	} else {
		x.Map(10)
		streamHead(x, s)
		x.BulkString("groups")
		x.Int(int64(s.Groups))
		x.BulkString("first-entry")
		if err = edge(x, s, false); err == nil {
			x.BulkString("last-entry")
			err = edge(x, s, true)
		}
	}
	endReply(x, err)
}

// streamHead replies with the seven pairs that both forms of XINFO STREAM begin with. Redis
// has a tree of nodes of entries: here it is said what there would be if they were full.
func streamHead(x *command.Call, s *collection.Stream) {
	node := cmp.Or(x.Limits.Encodings.StreamNode.Load(), collection.TrimNode)
	nodes := s.Len() / node
	if s.Len()%node > 0 {
		nodes++
	}
	x.BulkString("length")
	x.Int(s.Len())
	x.BulkString("radix-tree-keys")
	x.Int(nodes)
	x.BulkString("radix-tree-nodes")
	x.Int(nodes + 1)
	x.BulkString("last-generated-id")
	streamID(x.Writer, s.Last)
	x.BulkString("max-deleted-entry-id")
	streamID(x.Writer, s.MaxDeleted)
	x.BulkString("entries-added")
	x.Int(int64(s.Added))
	x.BulkString("recorded-first-entry-id")
	streamID(x.Writer, s.First)
}

// edge replies with the first entry, or else the last, or null if there is none.
func edge(x *command.Call, s *collection.Stream, last bool) error {
	var failure error
	found := false
	err := s.Range(collection.ID{}, collection.MaxID, last, func(id collection.ID, fields collection.Fields) bool {
		found = true
		failure = entry(x.Writer, id, fields)
		return false
	})
	if failure != nil {
		return failure
	}
	if !found && err == nil {
		x.Null()
	}
	return err
}

// streamFull replies with entries and groups, of each up to so many entries, all if that is 0.
func streamFull(x *command.Call, s *collection.Stream, count int64) error {
	x.BulkString("entries")
	if _, err := entriesIn(x, s, collection.ID{}, collection.MaxID, count, false, nil); err != nil {
		return err
	}
	groups, err := s.AllGroups()
	if err != nil {
		return err
	}
	x.BulkString("groups")
	x.Array(len(groups))
	for _, g := range groups {
		if err := groupFull(x, g, count); err != nil {
			return err
		}
		if !mayGrow(x) {
			return errReplySize
		}
	}
	return nil
}

func groupFull(x *command.Call, g *collection.Group, count int64) error {
	released, _, err := g.Released()
	if err != nil {
		return err
	}
	if released > 0 {
		x.Map(8)
	} else { // as in 7.4, where some clients read by position
		x.Map(7)
	}
	x.BulkString("name")
	x.Bulk(g.Name())
	x.BulkString("last-delivered-id")
	streamID(x.Writer, g.Last)
	progress(x, g)
	x.BulkString("pel-count")
	x.Int(g.Pending)
	if released > 0 {
		x.BulkString("nacked-count")
		x.Int(released)
	}
	x.BulkString("pending")
	at, n, fits := len(x.Buf), int64(0), true
	err = g.EachPending(collection.ID{}, collection.MaxID, func(p *collection.Pending) bool {
		x.Array(4)
		streamID(x.Writer, p.ID)
		x.Bulk(p.Owner())
		x.Int(p.Delivered())
		x.Int(int64(p.Count))
		n++
		fits = x.FitsReply(0)
		return n != count && fits
	})
	switch {
	case err != nil:
		return err
	case !fits:
		return errReplySize
	}
	insertLength(x.Writer, at, '*', int(n))
	consumers, err := g.AllConsumers()
	if err != nil {
		return err
	}
	x.BulkString("consumers")
	x.Array(len(consumers))
	for _, c := range consumers {
		if err := consumerFull(x, g, c, count); err != nil {
			return err
		}
	}
	return nil
}

// progress replies with how far a group has come.
func progress(x *command.Call, g *collection.Group) {
	x.BulkString("entries-read")
	if g.Read == collection.UnknownRead {
		x.Null()
	} else {
		x.Int(g.Read)
	}
	x.BulkString("lag")
	if lag, ok := g.Lag(); ok {
		x.Int(lag)
	} else {
		x.Null()
	}
}

func consumerFull(x *command.Call, g *collection.Group, c *collection.Consumer, count int64) error {
	x.Map(5)
	x.BulkString("name")
	x.Bulk(c.Name)
	x.BulkString("seen-time")
	x.Int(c.Seen)
	x.BulkString("active-time")
	x.Int(c.Active)
	x.BulkString("pel-count")
	x.Int(c.Pending)
	x.BulkString("pending")
	at, n, fits := len(x.Buf), int64(0), true
	err := g.EachPendingOf(c.Name, collection.ID{}, collection.MaxID, func(p *collection.Pending) bool {
		x.Array(3)
		streamID(x.Writer, p.ID)
		x.Int(p.Time)
		x.Int(int64(p.Count))
		n++
		fits = x.FitsReply(0)
		return n != count && fits
	})
	switch {
	case err != nil:
		return err
	case !fits:
		return errReplySize
	}
	insertLength(x.Writer, at, '*', int(n))
	return nil
}

func cmdXinfoGroups(x *command.Call) {
	s, ok := streamFound(x)
	if !ok {
		return
	}
	groups, err := s.AllGroups()
	x.Array(len(groups))
	for _, g := range groups {
		var consumers int64
		if _, consumers, err = g.Released(); err != nil {
			break
		}
		x.Map(6)
		x.BulkString("name")
		x.Bulk(g.Name())
		x.BulkString("consumers")
		x.Int(consumers)
		x.BulkString("pending")
		x.Int(g.Pending)
		x.BulkString("last-delivered-id")
		streamID(x.Writer, g.Last)
		progress(x, g)
	}
	endReply(x, err)
}

func cmdXinfoConsumers(x *command.Call) {
	s, ok := streamFound(x)
	if !ok {
		return
	}
	g, err := s.Group(x.Args[3])
	if err == nil && g == nil {
		x.Error(fmt.Sprintf("NOGROUP No such consumer group '%s' for key name '%s'", whole(x.Args[3]), shownKey(x.Args[2])))
		return
	}
	var consumers []*collection.Consumer
	if err == nil {
		consumers, err = g.AllConsumers()
	}
	x.Array(len(consumers))
	for _, c := range consumers {
		x.Map(4)
		x.BulkString("name")
		x.Bulk(c.Name)
		x.BulkString("pending")
		x.Int(c.Pending)
		x.BulkString("idle")
		x.Int(max(x.Unit.Now()-c.Seen, 0))
		x.BulkString("inactive")
		if c.Active == collection.NeverActive {
			x.Int(-1)
		} else {
			x.Int(max(x.Unit.Now()-c.Active, 0))
		}
	}
	endReply(x, err)
}

func cmdXinfoHelp(x *command.Call) {
	command.Help(x, "XINFO",
		"CONSUMERS <key> <group>",
		"    Show the consumers of a group.",
		"GROUPS <key>",
		"    Show the groups of a stream.",
		"STREAM <key> [FULL [COUNT <count>]]",
		"    Describe a stream; FULL adds its entries, its groups with their consumers",
		"    and what is pending, <count> of each (default: 10, all: 0).",
	)
}

func cmdXgroupHelp(x *command.Call) {
	command.Help(x, "XGROUP",
		"CREATE <key> <group> <id|$> [MKSTREAM] [ENTRIESREAD <number>]",
		"    Create a group that reads what is behind an ID. MKSTREAM creates the stream",
		"    if it is missing; ENTRIESREAD says how many entries are behind the group.",
		"CREATECONSUMER <key> <group> <consumer>",
		"    Create a consumer in a group.",
		"DELCONSUMER <key> <group> <consumer>",
		"    Remove a consumer with what is pending with it.",
		"DESTROY <key> <group>",
		"    Remove a group.",
		"SETID <key> <group> <id|$> [ENTRIESREAD <number>]",
		"    Set the ID that a group has come to.",
	)
}
