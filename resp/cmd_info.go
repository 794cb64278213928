package resp

import (
	"fmt"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// An infoSection is a part of INFO's answer.
type infoSection struct {
	title  string
	always bool // also without arguments
	write  func(*infoWriter)
}

// infoSections are in the order of Redis, with Ringside's own at the end.
var infoSections = []infoSection{
	{"Server", true, infoServer},
	{"Clients", true, infoClients},
	{"Memory", true, infoMemory},
	{"Persistence", true, infoPersistence},
	{"Stats", true, infoStats},
	{"Replication", true, infoReplication},
	{"CPU", true, infoCPU},
	{"Modules", true, func(*infoWriter) {}},
	{"Commandstats", false, infoCommandStats},
	{"Errorstats", true, infoErrorStats},
	{"Latencystats", false, infoLatencyStats},
	{"Cluster", true, infoCluster},
	{"Keyspace", true, infoKeyspace},
	{"Ringside", true, infoRingside},
	{"Ring", true, infoRing},
}

func cmdInfo(x *call) {
	w := &infoWriter{srv: x.srv, call: x}
	for i := range infoSections {
		s := &infoSections[i]
		if !s.wanted(x.Args[1:]) {
			continue
		}
		if len(w.buf) > 0 {
			w.buf = append(w.buf, '\r', '\n')
		}
		w.buf = fmt.Appendf(w.buf, "# %s\r\n", s.title)
		s.write(w)
	}
	x.Verbatim(string(w.buf))
}

// wanted reports whether INFO's arguments, if any, name the section.
func (s *infoSection) wanted(args [][]byte) bool {
	if len(args) == 0 {
		return s.always
	}
	for _, arg := range args {
		switch {
		case wire.EqualFold(arg, "all") || wire.EqualFold(arg, "everything") || wire.EqualFold(arg, s.title):
			return true
		case wire.EqualFold(arg, "default") && s.always:
			return true
		}
	}
	return false
}

// An infoWriter collects INFO's answer.
type infoWriter struct {
	srv   *Server
	call  *call // INFO's
	buf   []byte
	stats *store.Stats
}

// line appends a field. The value's text must not hold a line break.
func (w *infoWriter) line(name string, value any) {
	w.buf = fmt.Appendf(w.buf, "%s:%v\r\n", name, value)
}

// human is a number of bytes, and once more in a form to read.
func (w *infoWriter) human(name string, n int64) {
	w.line(name, n)
	w.line(name+"_human", humanBytes(n))
}

// store returns the store's figures, as of one moment for the whole answer.
func (w *infoWriter) store() *store.Stats {
	if w.stats == nil {
		st := w.srv.store.Stats()
		w.stats = &st
	}
	return w.stats
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func humanBytes(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%dB", n)
	}
	f, unit := float64(n)/(1<<10), 0
	for f >= 1<<10 && unit < 3 {
		f /= 1 << 10
		unit++
	}
	return fmt.Sprintf("%.2f%c", f, "KMGT"[unit])
}
