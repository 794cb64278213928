package admin

import (
	"fmt"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// An infoSection is a part of INFO's answer.
type infoSection struct {
	title  string
	always bool // also without arguments
	write  func(*Info)
}

// infoSections are in the order of Redis, with Ringside's own at the end.
var infoSections = []infoSection{
	{"Server", true, infoServer},
	{"Clients", true, infoClients},
	{"Memory", true, infoMemory},
	{"Persistence", true, infoPersistence},
	{"Stats", true, infoStats},
	{"Replication", true, (*Info).fromServer},
	{"CPU", true, infoCPU},
	{"Modules", true, func(*Info) {}},
	{"Commandstats", false, infoCommandStats},
	{"Errorstats", true, infoErrorStats},
	{"Latencystats", false, infoLatencyStats},
	{"Cluster", true, (*Info).fromServer},
	{"Keyspace", true, (*Info).fromServer},
	{"Ringside", true, infoRingside},
	{"Ring", true, (*Info).fromServer},
	{"Databases", false, (*Info).fromServer},
}

func cmdInfo(x *call) {
	w := &Info{srv: x.srv, call: x.Call}
	for i := range infoSections {
		s := &infoSections[i]
		if !s.wanted(x.Args[1:]) {
			continue
		}
		if len(w.text) > 0 {
			w.text = append(w.text, '\r', '\n')
		}
		w.section = s.title
		w.text = fmt.Appendf(w.text, "# %s\r\n", s.title)
		s.write(w)
	}
	x.Verbatim(w.Text())
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

// An Info collects fields as INFO shows them. The zero value is empty.
type Info struct {
	srv     *Server
	call    *command.Call // INFO's
	section string        // that is written
	text    []byte
	stats   *store.Stats
}

// Text is what was collected.
func (w *Info) Text() string { return string(w.text) }

// fromServer writes a section that the server knows.
func (w *Info) fromServer() { w.srv.Source.Section(w, w.section, w.call) }

// Line appends a field. The value's text must not hold a line break.
func (w *Info) Line(name string, value any) {
	w.text = fmt.Appendf(w.text, "%s:%v\r\n", name, value)
}

// human is a number of bytes, and once more in a form to read.
func (w *Info) human(name string, n int64) {
	w.Line(name, n)
	w.Line(name+"_human", humanBytes(n))
}

// Store returns the store's figures, as of one moment for the whole answer.
func (w *Info) Store() *store.Stats {
	if w.stats == nil {
		st := w.srv.Store.Stats()
		w.stats = &st
	}
	return w.stats
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

// Bit is 1 for true, 0 for false.
func Bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
