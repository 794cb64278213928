package hotkeys

import (
	"maps"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A report is what GET returns: of a node, or of several together.
type report struct {
	fields []field // numbers, in the order of the reply
	lists  []list
	slots  []uint16
}

type field struct {
	name string
	n    int64
	// sum: the numbers of nodes add up; else the first one holds.
	sum bool
}

type list struct {
	name string
	all  []hot
}

// Get is HOTKEYS GET. The sums of all nodes are added up.
func (t *Tracker) Get(x *command.Call, c Cluster) {
	s := t.session()
	replies := c.Ask()
	if s == nil {
		x.Null()
		return
	}
	r := s.report(c)
	for _, reply := range replies {
		r.merge(reply)
	}
	r.write(x, s.count)
}

// report returns what a session has found on this node.
func (s *session) report(c Cluster) *report {
	s.mu.Lock()
	defer s.mu.Unlock()
	active, end := int64(0), s.ended
	if end.IsZero() {
		active, end = 1, time.Now()
	}
	micros := func(nanos int64) int64 { return nanos / int64(time.Microsecond) }
	r := &report{slots: slices.Sorted(maps.Keys(s.slots))}
	r.fields = []field{{"tracking-active", active, false}, {"sample-ratio", int64(s.sample), false}}
	if s.slots != nil {
		if s.sample > 1 {
			r.fields = append(r.fields, field{"sampled-commands-selected-slots-us", micros(s.slotTime[0]), true})
		}
		r.fields = append(r.fields, field{"all-commands-selected-slots-us", micros(s.slotTime[1]), true})
	}
	r.fields = append(r.fields, field{"all-commands-all-slots-us", micros(s.time.Load()), true})
	if s.slots != nil {
		if s.sample > 1 {
			r.fields = append(r.fields, field{"net-bytes-sampled-commands-selected-slots", s.slotBytes[0], true})
		}
		r.fields = append(r.fields, field{"net-bytes-all-commands-selected-slots", s.slotBytes[1], true})
	}
	r.fields = append(r.fields, field{"net-bytes-all-commands-all-slots", s.bytes.Load(), true},
		field{"collection-start-time-unix-ms", s.began.UnixMilli(), false}, field{"collection-duration-ms", end.Sub(s.began).Milliseconds(), false})
	if s.byTime != nil {
		if active == 1 || s.usedUser == 0 {
			system, user := c.CPU()
			s.usedUser, s.usedSys = user-s.cpu[0], system-s.cpu[1]
		}
		r.fields = append(r.fields, field{"total-cpu-time-user-ms", s.usedUser.Milliseconds(), true}, field{"total-cpu-time-sys-ms", s.usedSys.Milliseconds(), true})
		top := s.byTime.top(s.count)
		for i := range top {
			top[i].sum = micros(top[i].sum)
		}
		r.lists = append(r.lists, list{"by-cpu-time-us", top})
	}
	if s.byBytes != nil {
		r.fields = append(r.fields, field{"total-net-bytes", s.bytes.Load(), true})
		r.lists = append(r.lists, list{"by-net-bytes", s.byBytes.top(s.count)})
	}
	return r
}

// merge adds the reply of another node. What is not known, or cannot be read, is left out.
func (r *report) merge(reply []byte) {
	b, ok := wire.ArrayBody(reply)
	if !ok || len(b) == 0 {
		return
	}
	if b, ok = wire.ArrayBody(b); !ok {
		return
	}
	for len(b) > 0 {
		name, ok := wire.ReplyText(b)
		n := wire.ValueLen(b)
		if !ok || n >= len(b) {
			return
		}
		value := b[n : n+wire.ValueLen(b[n:])]
		b = b[n+len(value):]
		for i := range r.fields {
			if f := &r.fields[i]; f.sum && f.name == string(name) {
				more, _ := wire.ReplyInt(value)
				f.n += more
			}
		}
		for i := range r.lists {
			if l := &r.lists[i]; l.name == string(name) {
				l.merge(value)
			}
		}
	}
}

func (l *list) merge(reply []byte) {
	b, ok := wire.ArrayBody(reply)
	for ok && len(b) > 0 {
		var key []byte
		if key, ok = wire.ReplyText(b); !ok {
			return
		}
		b = b[wire.ValueLen(b):]
		n := wire.ValueLen(b)
		sum, _ := wire.ReplyInt(b[:n])
		b = b[n:]
		if i := slices.IndexFunc(l.all, func(h hot) bool { return string(h.key) == string(key) }); i >= 0 {
			l.all[i].sum += sum
		} else {
			l.all = append(l.all, hot{slices.Clone(key), sum})
		}
	}
}

// write replies with an array of one map, as Redis does: clients that ask several nodes put the arrays together.
func (r *report) write(x *command.Call, k int) {
	x.Array(1)
	x.Map(len(r.fields) + 1 + len(r.lists))
	for i, f := range r.fields {
		x.BulkString(f.name)
		x.Int(f.n)
		if i == 1 {
			r.writeSlots(x)
		}
	}
	for _, l := range r.lists {
		top := largest(l.all, k)
		x.BulkString(l.name)
		x.Array(2 * len(top))
		for _, h := range top {
			x.Bulk(h.key)
			x.Int(h.sum)
		}
	}
}

// writeSlots writes the selected slots as ranges, a single slot as an array of one.
func (r *report) writeSlots(x *command.Call) {
	var ranges [][2]uint16
	for _, slot := range r.slots {
		if n := len(ranges); n > 0 && ranges[n-1][1]+1 == slot {
			ranges[n-1][1] = slot
		} else {
			ranges = append(ranges, [2]uint16{slot, slot})
		}
	}
	x.BulkString("selected-slots")
	x.Array(len(ranges))
	for _, s := range ranges {
		if s[0] == s[1] {
			x.Array(1)
			x.Int(int64(s[0]))
			continue
		}
		x.Array(2)
		x.Int(int64(s[0]))
		x.Int(int64(s[1]))
	}
}
