package psync

import (
	"errors"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/moment"
	"github.com/ringside-kv/ringside/resp/wire"
)

// watch does what comes with time: PING, the end of silent and of slow replicas, of the backlog and of the history,
// and changes of functions.
func (h *history) watch() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	pinged, used := time.Now(), time.Now()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-ticker.C:
		}
		now, settings := time.Now(), h.s.cfg.Settings()
		replicas, online := h.s.check(h, now, &settings)
		if replicas > 0 {
			used = now
		}
		if settings.BacklogTTL > 0 && now.Sub(used) >= settings.BacklogTTL {
			h.end(errUnused)
			return
		}
		if online > 0 {
			if now.Sub(pinged) >= settings.PingPeriod {
				pinged = now
				h.write(-1, wire.AppendRequest(nil, "PING"))
			}
			h.followFunctions()
		}
		h.stream.trim(settings.Backlog)
	}
}

// write adds commands to the stream, unless a moment is being agreed on.
func (h *history) write(database int, commands []byte) bool {
	h.emit.Lock()
	defer h.emit.Unlock()
	if h.moments > 0 {
		return false
	}
	h.stream.write(database, commands)
	return true
}

// followFunctions writes the libraries of functions if they have changed. It is called before changed keys are read, so
// that a replica has a function no later than what it has written.
func (h *history) followFunctions() {
	h.loading.Lock()
	defer h.loading.Unlock()
	version := h.s.cfg.Functions()
	if version == h.functions {
		return
	}
	settings := h.s.cfg.Settings()
	if payload, _ := settings.versions(); payload < functionVersion {
		h.functions = version
		return
	}
	libraries, err := moment.Libraries(h.ctx, h.s.pool)
	if err != nil {
		h.s.warn("reading functions for replicas failed", err)
		return
	}
	commands := wire.AppendRequest(nil, "FUNCTION", "FLUSH")
	for _, code := range libraries {
		commands = wire.AppendRequest(commands, "FUNCTION", "LOAD", "REPLACE", code)
	}
	if h.write(-1, commands) {
		h.functions = version
	}
}

// rescans notes the keys of databases that were flushed: those that have been written since, or were not there before
// a swap.
func (h *history) rescans() {
	r := reader{dial: h.s.cfg.Dial}
	defer r.close()
	for {
		var databases []int
		select {
		case databases = <-h.rescan:
		case <-h.ctx.Done():
			return
		}
		for _, n := range databases {
			for h.rescanDatabase(&r, n) != nil {
				r.close()
				if !h.sleep(feedPause) {
					return
				}
			}
		}
	}
}

// rescanDatabase notes all keys of a database.
func (h *history) rescanDatabase(r *reader, n int) error {
	if err := r.open(); err != nil {
		return err
	}
	if err := r.use(n); err != nil {
		return err
	}
	for cursor := "0"; ; {
		for h.pending.count() > rescanRoom {
			if !h.sleep(feedPause) {
				return nil
			}
		}
		if _, err := r.conn.Write(wire.AppendRequest(nil, "SCAN", cursor, "COUNT", strconv.Itoa(rescanRoom/10))); err != nil {
			return err
		}
		r.replies.Flat = true
		reply, err := r.replies.Read()
		r.replies.Flat = false
		switch {
		case err != nil:
			return err
		case reply.Kind == wire.KindError || len(reply.Values) == 0:
			return wire.ReplyError(reply.Text)
		}
		for _, key := range reply.Values[1:] {
			h.touch(place{n, string(key)})
		}
		if cursor = string(reply.Values[0]); cursor == "0" {
			return nil
		}
	}
}

// sleep returns false if the history has ended.
func (h *history) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-h.ctx.Done():
		return false
	}
}

// Reasons for the end of a history.
var (
	errTooMany = errors.New("too many changed keys wait to be sent")
	errUnused  = errors.New("no replica has been there for repl-backlog-ttl")
	errClosed  = errors.New("the node is closing")
)

// A gapError tells that changes may be missing.
type gapError struct{ node string }

func (e *gapError) Error() string { return "changes at node " + e.node + " may be missing" }
