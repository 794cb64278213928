package resp

import (
	"bytes"
	"math"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/placement"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

func cmdClusterMyid(x *call) { x.BulkString(placement.NodeID(x.srv.selfID())) }

// cmdClusterMyshardid is of Redis 7.2. A node may have copies of several shards: each is one of its own.
func cmdClusterMyshardid(x *call) { x.BulkString(placement.NodeID("shard of " + x.srv.selfID())) }

func cmdClusterInfo(x *call) { placement.ReplyInfo(&x.Call, x.slotView()) }

func cmdClusterNodes(x *call) { placement.ReplyNodes(&x.Call, x.slotView()) }

func cmdClusterSlots(x *call) { placement.ReplySlots(&x.Call, x.slotView()) }

func cmdClusterShards(x *call) { placement.ReplyShards(&x.Call, x.slotView()) }

func cmdClusterSlotStats(x *call) {
	if !x.srv.clusterMode() {
		x.Error("ERR This instance has cluster support disabled")
		return
	}
	placement.SlotStats(&x.Call, x.slotView(), func(r ring.Range) (int64, error) {
		load, err := x.srv.store.RangeLoad(r)
		return load.Keys, err
	})
}

func cmdClusterKeyslot(x *call) { x.Int(int64(ring.Slot(x.Args[2]))) }

// cmdClusterCountkeysinslot counts this node's keys of a slot. Where tokens are not
// slots, it is all keys of the cluster that are asked, one by one: this node shows
// itself as the owner of all slots then.
func cmdClusterCountkeysinslot(x *call) {
	slot, ok := wire.ParseInt(x.Args[2])
	switch {
	case !ok:
		x.Error(command.MsgNotInteger)
		return
	case slot < 0 || slot >= ring.Slots:
		x.Error("ERR Invalid slot")
		return
	case !x.srv.cfg.Slots && x.spreads():
		if replies, ok := x.scatter(longTimeout, x.Args...); ok {
			x.Int(wire.SumInts(replies))
		}
		return
	}
	n := int64(0)
	err := x.eachInSlot(uint16(slot), func([]byte) bool {
		n++
		return true
	})
	if err != nil {
		x.Fail(err)
		return
	}
	if x.awaitSeen(len(x.Buf)) {
		x.Int(n)
	}
}

func cmdClusterGetkeysinslot(x *call) {
	slot, ok := wire.ParseInt(x.Args[2])
	most, okMost := wire.ParseInt(x.Args[3])
	switch {
	case !ok || !okMost:
		x.Error(command.MsgNotInteger)
		return
	case slot < 0 || slot >= ring.Slots || most < 0:
		x.Error("ERR Invalid slot or number of keys")
		return
	case !x.srv.cfg.Slots && x.spreads():
		if replies, ok := x.scatter(longTimeout, x.Args...); ok {
			joinArrays(x, replies, int(min(most, maxCount)))
		}
		return
	}
	l := x.newLister([]byte("*"), math.MaxInt)
	err := x.eachInSlot(uint16(slot), func(key []byte) bool {
		return int64(l.n) < most && l.add(key) && int64(l.n) < most
	})
	l.end(err, nil)
}

// eachInSlot visits this node's keys of a slot, until visit returns false.
func (x *call) eachInSlot(slot uint16, visit func(key []byte) bool) error {
	if !x.srv.cfg.Slots {
		return x.eachOwn(func(e store.Entry) bool {
			return ring.Slot(database.Name(e.Key)) != slot || visit(bytes.Clone(e.Key))
		})
	}
	token := ring.Token(slot) << placement.SlotShift
	return x.own(func(spans []ring.Range) error {
		for _, span := range spans {
			if !span.Contains(token) {
				continue
			}
			// All keys of a slot have its first token.
			one := ring.Range{Start: token, End: token + 1}
			_, _, err := x.srv.store.ScanIn(one, store.CursorAt(token), maxCount, func(e store.Entry) bool { return visit(e.Key) })
			return err
		}
		return nil
	})
}

// cmdReadonly is READONLY: from now on a redirect connection may read, at this node, keys of
// which this node has a copy; see [conn.readsCopy]. Everywhere else reads need no such
// permission. It is accepted on a lone node, too, unlike by Redis without cluster mode: a
// lone node answers CLUSTER like a cluster of one, and clients of a cluster send READONLY to
// each node that they know.
func cmdReadonly(x *call) {
	x.conn.session.readonly = true
	x.srv.tracking.rerouted(x.conn)
	x.OK()
}

// cmdReadwrite is READWRITE, which ends READONLY.
func cmdReadwrite(x *call) {
	x.conn.session.readonly = false
	x.srv.tracking.rerouted(x.conn)
	x.OK()
}
func cmdAsking(x *call) { x.OK() }
