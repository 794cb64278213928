package trace

import (
	"crypto/rand"
	"strconv"
	"time"
)

type (
	traceID [16]byte
	spanID  [8]byte
)

// ContextSize is the length of a trace context as nodes send it to each other: the id of the trace, and that of the span
// that the requests belong to.
const ContextSize = 16 + 8

// A Sampled is the trace of requests that were sampled.
type Sampled struct {
	id           traceID
	span, parent spanID
}

func newSpanID() (id spanID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}

// newSampled begins a trace.
func newSampled() *Sampled {
	s := &Sampled{span: newSpanID()}
	_, _ = rand.Read(s.id[:])
	return s
}

// context is what a node is told of a span of the trace.
func (s *Sampled) context(of spanID) []byte {
	return append(append(make([]byte, 0, ContextSize), s.id[:]...), of[:]...)
}

// Context is what this node's own parts are told of the trace. s may be nil.
func (s *Sampled) Context() []byte {
	if s == nil {
		return nil
	}
	return s.context(s.span)
}

// A span is what a collector is sent.
type span struct {
	trace       traceID
	id, parent  spanID
	name        string
	kind        uint64
	start, end  time.Time
	command     string // the operation of the database; empty: none
	database    string // of command; empty: not known
	stage, node string
	failed      bool
}

// Kinds of spans, as OTLP numbers them.
const (
	kindInternal = 1
	kindServer   = 2
	kindClient   = 3
)

// Requests are sampled requests whose replies have left.
type Requests struct {
	Command       string // the slowest of them
	Database      int
	FromClient    bool          // Database is that of the client
	Arrived, Left time.Duration // on the server's clock
	Stages        []Stage
	Unknown       bool // the outcome is not known
}

// spans returns the spans of requests: one for all, and one for each stage. The server's clock was 0 at began.
func (s *Sampled) spans(r *Requests, began time.Time) []span {
	at := func(d time.Duration) time.Time { return began.Add(d) }
	all := []span{{
		trace: s.id, id: s.span, parent: s.parent, name: r.Command, kind: kindServer,
		start: at(r.Arrived), end: at(r.Left), command: r.Command, failed: r.Unknown,
	}}
	if r.FromClient {
		all[0].database = strconv.Itoa(r.Database)
	}
	for _, st := range r.Stages {
		sp := span{
			trace: s.id, id: st.span, parent: s.span, name: st.Name, kind: kindInternal,
			start: at(st.Start), end: at(st.End), stage: st.Name, node: st.Node,
		}
		if sp.id == (spanID{}) {
			sp.id = newSpanID()
		}
		if st.Name == Hop || st.Name == Backup {
			sp.kind, sp.name = kindClient, st.Name+" "+st.Node
		}
		all = append(all, sp)
	}
	return all
}
