package lease

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/ring"
)

// Who lost rows while its lease was over has not lost the others, nor by having got some.
func TestRenewedLeaseIsJudgedByTheRowsInQuestion(t *testing.T) {
	now := time.Hour
	l := aLease(&now, Rules{})
	l.grantedNow()
	a, b, c := ring.Range{Start: 0, End: 100}, ring.Range{Start: 100, End: 200}, ring.Range{Start: 200, End: 300}
	were := []ServedRow{{a, 1, 1}, {b, 1, 1}}
	l.RowsChanged(nil, were)
	_, rows := l.Mark()
	later := []ServedRow{{a, 1, 1}, {b, 1, 3}, {c, 1, 2}} // b was another's for a while
	l.Refresh = func() { l.Refresh = func() {}; l.RowsChanged(were, later) }
	now += 2 * Length
	l.grantedNow()
	for _, test := range []struct {
		of   []ring.Token
		kept bool
	}{
		{[]ring.Token{5}, true}, {[]ring.Token{150}, false}, {[]ring.Token{5, 150}, false}, {[]ring.Token{250}, true}, {nil, false},
	} {
		if l.WaitUnchanged(rows, test.of, time.Second, nil, nil) != test.kept {
			t.Errorf("%v: kept is not %v", test.of, test.kept)
		}
	}
	if _, rows = l.Mark(); !l.WaitUnchanged(rows, nil, time.Second, nil, nil) || !l.WaitUnchanged(rows, []ring.Token{150}, time.Second, nil, nil) {
		t.Error("lost without a change")
	}
	l.RowsChanged(later, append(slices.Clone(later), ServedRow{ring.Range{Start: 300, End: 400}, 1, 1}))
	if !l.WaitUnchanged(rows, nil, time.Second, nil, nil) {
		t.Error("a new row took the others away")
	}
}

// However rows change: a token is kept from a mark on if its row was the same all the
// time, as long as that is remembered; and it is never said to be kept if it was not.
func TestKeptTokensHaveUnchangedRows(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	now := time.Hour
	for range 10 {
		l := aLease(&now, Rules{})
		type moment struct {
			mark uint64
			rows []ServedRow
			lost map[ring.Token]bool // since
		}
		var all []*moment
		var rows []ServedRow
		wide := uint32(1 + rnd.IntN(40))
		for range 60 {
			var next []ServedRow
			for start := uint32(0); start < 32*wide; start += wide {
				r := ring.Range{Start: ring.Token(start), End: ring.Token(start + wide)}
				was := slices.IndexFunc(rows, func(s ServedRow) bool { return s.Range == r })
				switch n := rnd.IntN(20); {
				case n > 0 && was >= 0:
					next = append(next, rows[was])
				case n%4 == 0:
					next = append(next, ServedRow{r, 1, rnd.Uint64N(1000)})
				}
			}
			if !slices.Equal(rows, next) {
				l.RowsChanged(rows, next)
			}
			for _, m := range all {
				for _, s := range rows {
					if !slices.Contains(next, s) {
						m.lost[s.Start] = true
					}
				}
			}
			rows = next
			_, mark := l.Mark()
			all = append(all, &moment{mark, rows, make(map[ring.Token]bool)})
			for _, m := range all {
				for _, s := range m.rows {
					token := s.Start + ring.Token(rnd.Uint32N(wide))
					if l.rowsKept(m.mark, []ring.Token{token}) == m.lost[s.Start] {
						t.Fatalf("%v since %d: lost is %v", s, m.mark, m.lost[s.Start])
					}
				}
			}
		}
	}
}

// Of endless changes some are forgotten: then nothing is kept from before.
func TestLossesThatAreForgottenCountAsLosses(t *testing.T) {
	now := time.Hour
	l := aLease(&now, Rules{})
	row := func(epoch uint64) []ServedRow { return []ServedRow{{ring.Range{Start: 0, End: 1}, 1, epoch}} }
	_, mark := l.Mark()
	for epoch := range uint64(2 * maxLostRanges) {
		l.RowsChanged(row(epoch), row(epoch+1))
	}
	if len(l.losses) > maxLostRanges || l.rowsKept(mark, []ring.Token{7}) {
		t.Errorf("%d are remembered", len(l.losses))
	}
	_, mark = l.Mark()
	l.RowsChanged(row(0), row(1))
	if !l.rowsKept(mark, []ring.Token{7}) || l.rowsKept(mark, []ring.Token{0}) {
		t.Error("the last is not remembered")
	}
}
