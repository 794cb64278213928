package resp

import (
	"fmt"

	"github.com/ringside-kv/ringside/store/collection"
)

// fullCount is how many entries, and how much of what is pending, XINFO STREAM FULL shows
// unless it is told.
const fullCount = 10

func cmdXinfoStream(x *Call) {
	full, count := len(x.args) > 3, int64(fullCount)
	s, ok := x.streamFound()
	if !ok {
		return
	}
	if full {
		if !equalFold(x.args[3], "full") || len(x.args) != 4 && len(x.args) != 6 || len(x.args) == 6 && !equalFold(x.args[4], "count") {
			x.wrongSubcommand("XINFO")
			return
		}
		if len(x.args) == 6 {
			if count, ok = parseInt(x.args[5]); !ok {
				x.err(msgNotInteger)
				return
			}
			if count < 0 {
				count = fullCount
			}
		}
	}
	var err error
	if full {
		x.dict(9)
		x.streamHead(s)
		err = x.streamFull(s, count)
	} else {
		x.dict(10)
		x.streamHead(s)
		x.bulkString("groups")
		x.integer(int64(s.Groups))
		x.bulkString("first-entry")
		if err = x.edge(s, false); err == nil {
			x.bulkString("last-entry")
			err = x.edge(s, true)
		}
	}
	x.endReply(err)
}

// streamHead replies with the seven pairs that both forms of XINFO STREAM begin with. Redis
// has a tree of nodes of entries: here it is said what there would be if they were full.
func (x *Call) streamHead(s *collection.Stream) {
	nodes := (s.Len() + collection.TrimNode - 1) / collection.TrimNode
	x.bulkString("length")
	x.integer(s.Len())
	x.bulkString("radix-tree-keys")
	x.integer(nodes)
	x.bulkString("radix-tree-nodes")
	x.integer(nodes + 1)
	x.bulkString("last-generated-id")
	x.streamID(s.Last)
	x.bulkString("max-deleted-entry-id")
	x.streamID(s.MaxDeleted)
	x.bulkString("entries-added")
	x.integer(int64(s.Added))
	x.bulkString("recorded-first-entry-id")
	x.streamID(s.First)
}

// edge replies with the first entry, or else the last, or null if there is none.
func (x *Call) edge(s *collection.Stream, last bool) error {
	var failure error
	found := false
	err := s.Range(collection.ID{}, collection.MaxID, last, func(id collection.ID, fields collection.Fields) bool {
		found = true
		failure = x.entry(id, fields)
		return false
	})
	if failure != nil {
		return failure
	}
	if !found && err == nil {
		x.null()
	}
	return err
}

// streamFull replies with entries and groups, of each up to so many entries, all if that is 0.
func (x *Call) streamFull(s *collection.Stream, count int64) error {
	x.bulkString("entries")
	if _, err := x.entriesIn(s, collection.ID{}, collection.MaxID, count, false, nil); err != nil {
		return err
	}
	groups, err := s.AllGroups()
	if err != nil {
		return err
	}
	x.bulkString("groups")
	x.array(len(groups))
	for _, g := range groups {
		if err := x.groupFull(g, count); err != nil {
			return err
		}
		if !x.mayGrow() {
			return errReplySize
		}
	}
	return nil
}

func (x *Call) groupFull(g *collection.Group, count int64) error {
	x.dict(7)
	x.bulkString("name")
	x.bulk(g.Name())
	x.bulkString("last-delivered-id")
	x.streamID(g.Last)
	x.progress(g)
	x.bulkString("pel-count")
	x.integer(g.Pending)
	x.bulkString("pending")
	at, n := len(x.buf), int64(0)
	err := g.EachPending(collection.ID{}, collection.MaxID, func(p *collection.Pending) bool {
		x.array(4)
		x.streamID(p.ID)
		x.bulk(p.Consumer)
		x.integer(p.Time)
		x.integer(int64(p.Count))
		n++
		return n != count && x.keepable(0)
	})
	if err != nil {
		return err
	}
	x.insertLength(at, '*', int(n))
	consumers, err := g.AllConsumers()
	if err != nil {
		return err
	}
	x.bulkString("consumers")
	x.array(len(consumers))
	for _, c := range consumers {
		if err := x.consumerFull(g, c, count); err != nil {
			return err
		}
	}
	return nil
}

// progress replies with how far a group has come.
func (x *Call) progress(g *collection.Group) {
	x.bulkString("entries-read")
	if g.Read == collection.UnknownRead {
		x.null()
	} else {
		x.integer(g.Read)
	}
	x.bulkString("lag")
	if lag, ok := g.Lag(); ok {
		x.integer(lag)
	} else {
		x.null()
	}
}

func (x *Call) consumerFull(g *collection.Group, c *collection.Consumer, count int64) error {
	x.dict(4)
	x.bulkString("name")
	x.bulk(c.Name)
	x.bulkString("seen-time")
	x.integer(c.Seen)
	x.bulkString("pel-count")
	x.integer(c.Pending)
	x.bulkString("pending")
	at, n := len(x.buf), int64(0)
	err := g.EachPendingOf(c.Name, collection.ID{}, collection.MaxID, func(p *collection.Pending) bool {
		x.array(3)
		x.streamID(p.ID)
		x.integer(p.Time)
		x.integer(int64(p.Count))
		n++
		return n != count && x.keepable(0)
	})
	if err != nil {
		return err
	}
	if !x.keepable(0) {
		return errReplySize
	}
	x.insertLength(at, '*', int(n))
	return nil
}

func cmdXinfoGroups(x *Call) {
	s, ok := x.streamFound()
	if !ok {
		return
	}
	groups, err := s.AllGroups()
	x.array(len(groups))
	for _, g := range groups {
		x.dict(6)
		x.bulkString("name")
		x.bulk(g.Name())
		x.bulkString("consumers")
		x.integer(g.Consumers)
		x.bulkString("pending")
		x.integer(g.Pending)
		x.bulkString("last-delivered-id")
		x.streamID(g.Last)
		x.progress(g)
	}
	x.endReply(err)
}

func cmdXinfoConsumers(x *Call) {
	s, ok := x.streamFound()
	if !ok {
		return
	}
	g, err := s.Group(x.args[3])
	if err == nil && g == nil {
		x.err(fmt.Sprintf("NOGROUP No such consumer group '%s' for key name '%s'", whole(x.args[3]), whole(x.args[2])))
		return
	}
	var consumers []*collection.Consumer
	if err == nil {
		consumers, err = g.AllConsumers()
	}
	x.array(len(consumers))
	for _, c := range consumers {
		x.dict(3)
		x.bulkString("name")
		x.bulk(c.Name)
		x.bulkString("pending")
		x.integer(c.Pending)
		x.bulkString("idle")
		x.integer(max(x.unit.Now()-c.Seen, 0))
	}
	x.endReply(err)
}

func cmdXinfoHelp(x *Call) {
	help(x, "XINFO",
		"CONSUMERS <key> <group>",
		"    Show the consumers of a group.",
		"GROUPS <key>",
		"    Show the groups of a stream.",
		"STREAM <key> [FULL [COUNT <count>]]",
		"    Describe a stream; FULL adds its entries, its groups with their consumers",
		"    and what is pending, <count> of each (default: 10, all: 0).",
	)
}

func cmdXgroupHelp(x *Call) {
	help(x, "XGROUP",
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
