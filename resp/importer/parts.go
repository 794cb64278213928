package importer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/store/rdb"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// A partWriter writes a value that is too large for one RESTORE, by commands of its type. Until the last
// part is written, clients of the target see a part of the value.
type partWriter struct {
	ctx      context.Context
	ring     *client.Ring
	stats    *Stats
	most     time.Duration
	database int

	again bool // the key has been written before

	lost   bool // the target does not take it
	over   bool // the key has expired at the target
	length int64
	args   [][]byte
	room   []byte
}

// Of one command for a part.
const (
	partElements = 512
	partBytes    = 1 << 20
)

var adders = map[rdb.Type]string{rdb.List: "RPUSH", rdb.Set: "SADD", rdb.Hash: "HSET", rdb.SortedSet: "ZADD"}

// write writes a part, the first one in place of what the key had.
func (w *partWriter) write(e *rdbfile.Entry) error {
	if w.lost {
		return nil
	}
	if err := w.writePart(e); err != nil && !errors.Is(err, errLost) {
		return err
	}
	return nil
}

func (w *partWriter) writePart(e *rdbfile.Entry) error {
	if e.Part == 0 {
		if err := w.run(e, wordDel, e.Key); err != nil {
			return err
		}
	}
	if !w.over {
		err := w.elements(e)
		if err == nil || errors.Is(err, errLost) {
			err = cmp.Or(w.expire(e), err)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case w.again && !e.More:
		w.stats.changes.Add(1)
		w.stats.found(w.database, e.Key)
	case !w.again:
		w.stats.bytes.Add(int64(len(e.Payload)))
		if !e.More {
			w.stats.keys.Add(1)
			w.stats.found(w.database, e.Key)
		}
	}
	return nil
}

// expire sets the expiry time after each part: the target may have deleted the key before or while the part was written,
// which then created it again without one. Once the target has expired the key, no more parts are written.
func (w *partWriter) expire(e *rdbfile.Entry) error {
	if e.ExpireAt == 0 {
		return nil
	}
	if err := w.run(e, []byte("PEXPIREAT"), e.Key, strconv.AppendInt(nil, e.ExpireAt, 10)); err != nil || time.Now().UnixMilli() < e.ExpireAt {
		return err
	}
	// The clock of the target decides.
	reply, err := w.ask(e, []byte("EXISTS"), e.Key)
	if err != nil {
		return err
	}
	n, err := reply.Int()
	w.over = err == nil && n == 0
	return err
}

var errLost = errors.New("not taken")

// elements adds those of a part.
func (w *partWriter) elements(e *rdbfile.Entry) error {
	v, err := rdb.Decode(e.Payload, 1<<40)
	if err == nil && adders[v.Type] == "" {
		err = fmt.Errorf("%s of %d bytes is too large", v.Type, len(e.Payload))
	}
	if err != nil {
		return w.lose(e, err)
	}
	begin := func() { w.args, w.room = append(w.args[:0], []byte(adders[v.Type]), e.Key), w.room[:0] }
	add := func(words ...[]byte) error {
		for _, word := range words {
			w.args = append(w.args, bytes.Clone(word))
			w.room = append(w.room, word...)
		}
		if len(w.args) < partElements && len(w.room) < partBytes {
			return nil
		}
		defer begin()
		return w.flush(e, v.Type)
	}
	begin()
	switch v.Type {
	case rdb.Hash:
		err = eachField(&v, func(field, value []byte, expiry int64) error {
			if expiry == 0 {
				return add(field, value)
			}
			return w.run(e, []byte("HSETEX"), e.Key, []byte("PXAT"), strconv.AppendInt(nil, expiry, 10), []byte("FIELDS"), []byte("1"), field, value)
		})
	case rdb.SortedSet:
		err = v.EachScore(func(member []byte, score float64) error {
			return add(strconv.AppendFloat(nil, score, 'g', 17, 64), member)
		})
	default:
		err = v.Each(func(element, _ []byte) error { return add(element) })
	}
	if err == nil {
		err = w.flush(e, v.Type)
	}
	if isFormat(err) {
		return w.lose(e, err)
	}
	return err
}

// flush sends the command that has been gathered. RPUSH is not repeated unless the length of the list
// says that it was not executed: nothing else writes to the list.
func (w *partWriter) flush(e *rdbfile.Entry, t rdb.Type) error {
	n := int64(len(w.args) - 2)
	if n == 0 {
		return nil
	}
	if t != rdb.List {
		return w.run(e, w.args...)
	}
	p := patience{most: w.most}
	for {
		err := w.ring.DoBytes(w.ctx, w.args...).Err()
		switch judge(w.ctx, err) {
		case done:
			w.length += n
			return nil
		case lost:
			return w.lose(e, err)
		case failed:
			return fmt.Errorf("target: %w", err)
		}
		if err := p.wait(w.ctx, err); err != nil {
			return fmt.Errorf("target: %w", err)
		}
		reply, err := must(w.ctx, w.ring, w.most, []byte("LLEN"), e.Key)
		if err != nil {
			return fmt.Errorf("target: %w", err)
		}
		switch length, _ := reply.Int(); length {
		case w.length + n:
			w.length += n
			return nil
		case w.length:
		default:
			if err := w.expire(e); err != nil || w.over {
				return err
			}
			return w.lose(e, fmt.Errorf("another client has written to the list: it has %d elements, not %d", length, w.length))
		}
	}
}

// run runs a command that may be repeated.
func (w *partWriter) run(e *rdbfile.Entry, args ...[]byte) error {
	_, err := w.ask(e, args...)
	return err
}

// ask runs a command that may be repeated, and returns its reply.
func (w *partWriter) ask(e *rdbfile.Entry, args ...[]byte) (client.Reply, error) {
	reply, err := must(w.ctx, w.ring, w.most, args...)
	switch judge(w.ctx, err) {
	case done:
		return reply, nil
	case lost:
		return reply, w.lose(e, err)
	}
	return reply, fmt.Errorf("target: %w", err)
}

func (w *partWriter) lose(e *rdbfile.Entry, err error) error {
	w.lost = true
	w.stats.lose(Loss{Database: w.database, Key: string(e.Key), Reason: err.Error()})
	return errLost
}

// isFormat reports whether an error is about a payload.
func isFormat(err error) bool {
	for _, kind := range []error{rdb.ErrPayload, rdb.ErrFormat, rdb.ErrType, rdb.ErrTooLarge, rdbfile.ErrFormat, rdbfile.ErrUnknown, rdbfile.ErrVersion, rdbfile.ErrTooLarge} {
		if errors.Is(err, kind) {
			return true
		}
	}
	var at *rdbfile.Error
	return errors.As(err, &at)
}
