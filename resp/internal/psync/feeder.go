package psync

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/rdb"
)

const (
	// feeders is how many connections read changed keys.
	feeders = 4
	// feedKeys and feedBytes are how many keys are read at a time, and how many bytes if they are as long as the last
	// ones.
	feedKeys  = 128
	feedBytes = 1 << 20
	// feedPause is the time before a key is read again that could not be read.
	feedPause = 50 * time.Millisecond
	// maxPayload is the longest string that a replica takes by default.
	maxPayload = 512 << 20
)

// A feeder reads changed keys and writes them to the stream. It has a goroutine of its own.
type feeder struct {
	h       *history
	reader  reader
	keys    []*waiting
	selects []bool
	out     []byte
	average int // bytes of the last values
}

// run feeds until the history ends.
func (f *feeder) run() {
	defer f.reader.close()
	for {
		n := max(1, min(feedKeys, feedBytes/max(1, f.average)))
		if f.keys = f.h.pending.take(n, f.keys); len(f.keys) == 0 {
			return
		}
		if done, err := f.feed(); err != nil {
			f.h.s.warn("reading changed keys for replicas failed", err)
			f.reader.close()
			f.h.pending.again(f.keys[done:], feedPause)
		}
	}
}

// feed reads the keys that were taken and writes them. It returns for how many that was done.
func (f *feeder) feed() (done int, err error) {
	if err := f.reader.open(); err != nil {
		return 0, err
	}
	f.h.followFunctions()
	settings := f.h.s.cfg.Settings()
	version, _ := settings.versions()
	text := strconv.Itoa(version)
	f.selects = f.selects[:0]
	for _, k := range f.keys {
		f.selects = append(f.selects, f.reader.request(k.place, text))
	}
	sent := f.reader.send()
	defer func() {
		if err != nil {
			f.reader.close() // so that send returns
		}
		if sendErr := <-sent; err == nil {
			err = sendErr
		}
	}()
	for i, k := range f.keys {
		reply, err := f.reader.answer(f.selects[i])
		if err != nil {
			return i, err
		}
		f.write(k, reply)
	}
	return len(f.keys), nil
}

// write writes a value to the stream.
func (f *feeder) write(k *waiting, reply *wire.Reply) {
	h := f.h
	if reply.Kind == wire.KindError && !bytes.HasPrefix(reply.Text, []byte("NOVERSION")) {
		h.pending.again([]*waiting{k}, feedPause)
		return
	}
	f.average = (7*f.average + len(reply.Text)) / 8
	skipped := reply.Kind == wire.KindError
	f.out, skipped = appendValue(f.out[:0], k.key, reply, skipped)
	h.emit.Lock()
	defer h.emit.Unlock()
	if !h.pending.current(k) {
		h.pending.again([]*waiting{k}, 0)
		return
	}
	switch {
	case skipped:
		h.s.skipped.Add(1)
	case isModule(reply):
		if h.s.modules.Add(1) == 1 {
			h.s.cfg.Logger.Warn("replicas are sent JSON values or Bloom filters: a replica without RedisJSON and RedisBloom does not have these keys")
		}
	}
	h.stream.write(k.database, f.out)
	h.pending.sent(k, len(f.out))
	if cap(f.out) > feedBytes {
		f.out = nil
	}
}

// restoreOrDelete gives a key a value of a module, or deletes it where the replica lacks the module. A RESTORE outside of a
// script would be an error in the stream, which a replica may be set to stop at, and would leave an earlier value.
const restoreOrDelete = `if redis.pcall('RESTORE',KEYS[1],ARGV[1],ARGV[2],'REPLACE','ABSTTL').err then redis.call('DEL',KEYS[1]) end`

// valueHead is how many bytes of a reply to RING VALUE stand before the payload.
const valueHead = 8

// isModule reports whether a reply to RING VALUE has a value of a module.
func isModule(reply *wire.Reply) bool {
	return reply.Kind != wire.KindError && len(reply.Text) > valueHead && rdb.IsModule(reply.Text[valueHead:])
}

// appendValue appends the command that gives a key the value of a reply to RING VALUE, or deletes it: if it does not
// exist, or if a replica does not take it.
func appendValue(b []byte, key string, reply *wire.Reply, tooNew bool) (commands []byte, skipped bool) {
	if skipped = tooNew || len(reply.Text) > maxPayload; skipped || len(reply.Text) <= valueHead {
		return wire.AppendRequest(b, "DEL", key), skipped
	}
	expiry := binary.LittleEndian.Uint64(reply.Text)
	if isModule(reply) {
		b = wire.AppendArray(b, 6)
		b = wire.AppendBulkString(b, "EVAL")
		b = wire.AppendBulkString(b, restoreOrDelete)
		b = wire.AppendBulkString(b, "1")
		b = wire.AppendBulkString(b, key)
		b = wire.AppendBulkInt(b, int64(expiry))
		return wire.AppendBulk(b, reply.Text[valueHead:]), false
	}
	b = wire.AppendArray(b, 6)
	b = wire.AppendBulkString(b, "RESTORE")
	b = wire.AppendBulkString(b, key)
	b = wire.AppendBulkInt(b, int64(expiry))
	b = wire.AppendBulk(b, reply.Text[valueHead:])
	b = wire.AppendBulkString(b, "REPLACE")
	return wire.AppendBulkString(b, "ABSTTL"), false
}
