package table

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/ringside-kv/ringside/ring"
)

// manyRows is a ring of a thousand nodes.
const manyRows = 160_000

func large(b *testing.B) *State {
	return steps(b, new(State), found("n0", manyRows), &Register{Node: "n1", Incarnation: 1})
}

func BenchmarkApplyOneRow(b *testing.B) {
	s := large(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		row, _ := s.Row(ring.Token(uint32(i) * 2654435761))
		c := Command(&AddLearner{Rows: []Ref{row.Ref()}, Node: "n1", Incarnation: 1})
		if row.learns("n1") {
			c = &DropLearner{Rows: []Ref{row.Ref()}, Node: "n1"}
		}
		next, err := s.Apply(s.Index()+1, c)
		if err != nil {
			b.Fatal(err)
		}
		s = next
	}
}

func BenchmarkSplitOneRow(b *testing.B) {
	s := large(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		row, _ := s.Row(ring.Token(uint32(i) * 2654435761))
		if row.Range.Len() < 4 {
			continue
		}
		next, err := s.Apply(s.Index()+1, &Split{[]Cut{{row.Ref(), []ring.Token{row.Range.Start + 1}}}})
		if err != nil {
			b.Fatal(err)
		}
		s = next
	}
}

func BenchmarkFailoverOfAThird(b *testing.B) {
	s := large(b)
	i := 0
	third := refsOf(s, func(*Row) bool { i++; return i%3 == 0 })
	s = steps(b, s, &AddLearner{Rows: third, Node: "n1", Incarnation: 1})
	third = refsOf(s, func(r *Row) bool { return len(r.Learners) > 0 })
	s = steps(b, s, &Admit{third, "n1", 1})
	f := &Failover{Node: "n0", Incarnation: 1}
	for _, ref := range refsOf(s, func(r *Row) bool { return len(r.Backups) > 0 }) {
		f.Rows = append(f.Rows, Succession{ref, "n1", nil})
	}
	for b.Loop() {
		if _, err := s.Apply(s.Index()+1, f); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(Encode(f))), "bytes")
}

func BenchmarkPlacement(b *testing.B) {
	s := large(b)
	for b.Loop() {
		s.draft(0).Placement()
	}
}

func BenchmarkSnapshot(b *testing.B) {
	s := large(b)
	data := []byte(mustBytes(b, s))
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			mustBytes(b, s)
		}
		b.ReportMetric(float64(len(data))/float64(s.Len()), "bytes/row")
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if err := new(State).UnmarshalBinary(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A directory that belongs to a cluster of one, until its first command is decided.
func BenchmarkStartAlone(b *testing.B) {
	dir := b.TempDir()
	cfg := func() Config {
		_, wire := raft.NewInmemTransport("n0")
		return Config{
			ID: "n0", Dir: dir, transport: wire,
			Forward: func(context.Context, string, []byte) ([]byte, error) { return nil, ErrUnsent },
		}
	}
	table, err := Open(cfg())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := table.Found(b.Context(), found("n0", 256)); err != nil {
		b.Fatal(err)
	}
	if err := table.Close(); err != nil {
		b.Fatal(err)
	}
	incarnation := uint64(1)
	slowest := time.Duration(0)
	for b.Loop() {
		begun := time.Now()
		table, err := Open(cfg())
		if err != nil {
			b.Fatal(err)
		}
		incarnation++
		if _, err := table.Apply(b.Context(), &Register{Node: "n0", Incarnation: incarnation}); err != nil {
			b.Fatal(err)
		}
		slowest = max(slowest, time.Since(begun))
		if err := table.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(slowest.Milliseconds()), "slowest-ms")
}
