package result

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

const ms = time.Millisecond

func newSeries(t testing.TB, open bool) *Series {
	t.Helper()
	s, err := NewSeries(SeriesConfig{Window: 100 * ms, Commands: []string{"GET", "SET"}, Open: open, Name: func(key int64) string { return fmt.Sprint("key ", key) }}, "first")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// at is an operation that took so long, on a key.
func at(end, took time.Duration, key int64, o Outcome) Op {
	return Op{Begin: end - took, Sent: end - took, Keys: []int64{key}, Outcome: o, Answered: true, Read: 5, Written: 30}
}

func TestOperationsCountWhereTheyEnd(t *testing.T) {
	s := newSeries(t, false)
	a, b := s.Recorder(0), s.Recorder(1)
	a.Add(50*ms, []Op{at(50*ms, 10*ms, 1, Done), at(50*ms, 20*ms, 2, Done)})
	b.Add(310*ms, []Op{at(310*ms, 300*ms, 3, Unknown)})
	a.Add(320*ms, []Op{at(320*ms, ms, 1, Refused), at(320*ms, ms, 1, Wrong)})
	b.Add(90*ms, []Op{at(90*ms, 30*ms, 3, Done)}) // a client that was late to tell
	got := s.Windows()
	want := []Window{
		{AtMS: 0, Operations: 3, P50: 20_000, P99: 30_000, P999: 30_000, Max: 30_000},
		{AtMS: 100}, {AtMS: 200},
		{AtMS: 300, Operations: 3, Failed: 3, Unknown: 1},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range got {
		got[i].P50 = float64(int(got[i].P50) / 1000 * 1000) // two digits
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

// A window in which something happens is the first of the time after it, and the last window
// counts though it was cut short: whatever times a run is cut into, together they are all.
func TestTimesShareNoWindowAndLeaveNoneOut(t *testing.T) {
	s := newSeries(t, false)
	for i := range 100 {
		end := time.Duration(i) * 9 * ms // up to 891
		s.Recorder(i%2).Add(end, []Op{at(end, ms, 1, Done)})
	}
	s.End(895 * ms)
	whole := s.Between(0, 895*ms).Operations
	if whole != 100 {
		t.Errorf("%d of 100 operations", whole)
	}
	if n := s.Between(450*ms, 895*ms).Operations; n != 55 { // from 405 on
		t.Errorf("%d operations from the window on in which 450 ms is", n)
	}
	for cut := time.Duration(0); cut < 895*ms; cut += 7 * ms {
		if before, after := s.Between(0, cut).Operations, s.Between(cut, 895*ms).Operations; before+after != whole {
			t.Errorf("%d operations until %v, and %d after it", before, cut, after)
		}
	}
}

func TestOperationsCountInThePhaseOfTheirEnd(t *testing.T) {
	s := newSeries(t, true)
	r := s.Recorder(0)
	s.Phase("load", 0) // names the first
	op := at(100*ms, 50*ms, 1, Done)
	op.Sent = 90 * ms
	r.Add(100*ms, []Op{op})
	s.Phase("run", 150*ms)
	set := at(200*ms, 20*ms, 2, Unknown)
	set.Command, set.Redirected = 1, 3
	r.Add(200*ms, []Op{set, at(200*ms, 30*ms, 2, Done)})
	s.End(400 * ms)
	s.End(500 * ms)
	p := s.Phases()
	if len(p) != 2 || p[0].Name != "load" || p[0].FromMS != 0 || p[0].UntilMS != 150 || p[1].Name != "run" || p[1].FromMS != 150 || p[1].UntilMS != 400 {
		t.Fatalf("%+v", p)
	}
	if p[0].Operations != 1 || p[0].Latency.Max != 50_000 || p[0].Service.Max != 10_000 || p[0].Read != 5 || p[0].Written != 30 || p[0].Latency.Histogram == "" {
		t.Errorf("%+v", p[0].Clients)
	}
	if p[1].Operations != 2 || p[1].Failed != 1 || p[1].Unknown != 1 || p[1].Redirected != 3 || p[1].Latency.Max != 30_000 {
		t.Errorf("%+v", p[1].Clients)
	}
	c := p[1].Commands
	if len(c) != 2 || c[0].Command != "GET" || c[0].Operations != 1 || c[0].Failed != 0 || c[1].Operations != 1 || c[1].Failed != 1 || c[0].Latency.Max != 30_000 || c[1].Latency.Max != 0 {
		t.Errorf("%+v", c)
	}
	all := s.All()
	if all.Operations != 3 || all.Failed != 1 || all.UntilMS != 400 || all.Latency.Max != 50_000 || all.Read != 15 {
		t.Errorf("%+v", all)
	}
}

// Who waits in vain has waited; who is refused has not been served.
func TestWhichFailuresHaveALatency(t *testing.T) {
	s := newSeries(t, false)
	r := s.Recorder(0)
	vain := at(800*ms, 700*ms, 1, Refused)
	vain.Answered = false
	r.Add(800*ms, []Op{vain, at(800*ms, 0, 2, Refused), at(800*ms, 0, 3, Wrong)})
	if l := s.All().Latency; l.P50 < 699_000 || l.Mean != 700_000 {
		t.Errorf("%+v", l)
	}
}

func TestLongestPauseOfAKey(t *testing.T) {
	s := newSeries(t, false)
	add := func(end time.Duration, ops ...Op) { s.Recorder(0).Add(end, ops) } // each by another client
	pause := func(want float64, of int64) {
		t.Helper()
		a := s.All()
		if a.LongestPauseMS != want || a.LongestPauseOf != fmt.Sprint("key ", of) {
			t.Errorf("%v of %s, want %v of %d", a.LongestPauseMS, a.LongestPauseOf, want, of)
		}
	}
	add(100*ms, at(100*ms, 10*ms, 1, Done))
	pause(10, 1)
	add(200*ms, at(200*ms, 20*ms, 2, Refused)) // from 180
	add(210*ms, at(210*ms, 5*ms, 2, Unknown))  // to 210
	pause(30, 2)
	add(300*ms, at(300*ms, 35*ms, 3, Done))
	pause(35, 3)
	add(400*ms, at(400*ms, ms, 2, Done)) // nobody asked before 399
	pause(35, 3)
	add(410*ms, at(410*ms, 60*ms, 2, Refused)) // from 350
	add(450*ms, at(450*ms, 42*ms, 2, Done))    // asked at 408 already
	pause(100, 2)
	add(500*ms, at(500*ms, ms, 4, Refused), at(500*ms, ms, 5, Refused)) // from 499
	add(600*ms, at(600*ms, ms, 5, Wrong))                               // it is there
	several := at(700*ms, ms, 6, Refused)
	several.Keys = []int64{6, 7}
	add(700*ms, several, Op{Outcome: Refused}) // no keys, no pause
	add(750*ms, at(750*ms, ms, 4, Refused))
	s.End(800 * ms)
	pause(251, 4)
	if c := s.Between(0, 350*ms); c.LongestPauseMS != 35 { // that of 100 ended later
		t.Errorf("%+v", c)
	}
	if c := s.Between(310*ms, 400*ms); c.LongestPauseMS != 50 { // of the 100, so far
		t.Errorf("%+v", c)
	}
	if c := s.Between(420*ms, 500*ms); c.LongestPauseMS != 100 { // and had begun before
		t.Errorf("%+v", c)
	}
	if c := s.Between(500*ms, 800*ms); c.LongestPauseMS != 251 {
		t.Errorf("%+v", c)
	}
	if c := s.Between(0, 150*ms); c.LongestPauseMS != 10 {
		t.Errorf("%+v", c)
	}
}

// TestClientThatIsNotServedHasAPause has one of two clients fail, with another key each time.
func TestClientThatIsNotServedHasAPause(t *testing.T) {
	s := newSeries(t, false)
	r, other := s.Recorder(0), s.Recorder(1)
	for i := range int64(10) {
		end := time.Duration(i+1) * 100 * ms
		r.Add(end, []Op{at(end, ms, i, Refused)})
		other.Add(end, []Op{at(end, ms, 100+i, Done)})
		if i == 4 {
			s.Phase("second", end+ms)
		}
	}
	if p := s.Phases(); p[0].LongestPauseMS != 402 || p[1].LongestPauseMS != 901 || p[1].LongestPauseOf != "key 0" {
		t.Errorf("%v ms in the first phase, %v in the second, of %s", p[0].LongestPauseMS, p[1].LongestPauseMS, p[1].LongestPauseOf)
	}
	r.Add(1200*ms, []Op{at(1200*ms, 250*ms, 10, Done)}) // was due at 950
	r.Add(2400*ms, []Op{at(2400*ms, ms, 11, Refused)})
	r.Add(3000*ms, []Op{at(3000*ms, ms, 12, Done), {Outcome: Refused}})
	s.End(4000 * ms)
	if all := s.All(); all.LongestPauseMS != 1101 || all.LongestPauseOf != "key 0" {
		t.Errorf("%v ms of %s", all.LongestPauseMS, all.LongestPauseOf)
	}
	if w := s.Windows(); len(w) != 40 {
		t.Errorf("%d windows", len(w))
	}
}

func TestKeysThatFailTakeBoundedMemory(t *testing.T) {
	s := newSeries(t, false)
	r := s.Recorder(0)
	for key := range int64(2 * maxFailing) {
		r.Add(time.Duration(key), []Op{{Begin: time.Duration(key), Keys: []int64{key}, Outcome: Refused}})
	}
	if n := len(s.failing.since); n != maxFailing {
		t.Errorf("%d keys", n)
	}
	r.Add(time.Second, []Op{{Begin: time.Second, Keys: []int64{0}, Outcome: Refused}})
	s.End(time.Second)
	if all := s.All(); all.LongestPauseMS != 1000 || all.LongestPauseOf != "key 0" {
		t.Errorf("%v of %s", all.LongestPauseMS, all.LongestPauseOf)
	}
}

// A long run is thinned: the figures of each window and what is counted between two times stay, and
// latencies between two times are near what they were.
func TestLongRunsAreThinned(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing to see for the race detector")
	}
	s := newSeries(t, false)
	r := s.Recorder(0)
	rnd := rand.New(rand.NewPCG(1, 1))
	const windows = 3 * keep
	var want []int64
	for i := range windows {
		end := time.Duration(i)*100*ms + 50*ms
		n := int64(1 + rnd.IntN(5))
		for range n {
			r.Add(end, []Op{at(end, time.Duration(1+rnd.IntN(20))*ms, 1, Done)})
		}
		want = append(want, n)
	}
	if n := len(s.windows.packed) - s.windows.old; n >= keep+thin {
		t.Errorf("%d windows have a histogram of their own", n)
	}
	r.Add(50*ms, []Op{at(50*ms, 40*ms, 1, Refused)}) // very late
	r.Add(windows*100*ms, nil)
	want[0]++
	got := s.Windows()
	if len(got) != windows || got[0].Failed != 1 {
		t.Fatalf("%d windows, %+v", len(got), got[0])
	}
	total := int64(0)
	for i, w := range got {
		if w.Operations != want[i] || w.AtMS != float64(i*100) || i > 0 && (w.P50 < 900 || w.P50 > 20_200 || w.P99 < w.P50) {
			t.Fatalf("window %d: %+v, want %d", i, w, want[i])
		}
		total += w.Operations
	}
	for _, c := range []struct{ from, until int }{{0, windows}, {windows - 1000, windows - 500}, {1000, 2000}, {1001, 1003}, {thin, 3 * thin}} {
		sum := int64(0)
		for _, n := range want[c.from:c.until] {
			sum += n
		}
		b := s.Between(time.Duration(c.from)*100*ms, time.Duration(c.until)*100*ms)
		if b.Operations != sum || b.Latency.P99 < 15_000 || b.Latency.P99 > 20_200 {
			t.Errorf("%+v: %d operations, want %d; %+v", c, b.Operations, sum, b.Latency)
		}
	}
	if total != s.All().Operations {
		t.Errorf("%d operations in windows, %d in all", total, s.All().Operations)
	}
}

// What comes late is added to what is there, however old its window is.
func TestLateOperationsCountWhereTheyEnded(t *testing.T) {
	s := newSeries(t, false)
	r := s.Recorder(0)
	const windows = 100
	for _, late := range []time.Duration{0, ms} {
		for i := range windows {
			end := time.Duration(i)*100*ms + 50*ms
			r.Add(end, []Op{at(end, time.Duration(i+1)*ms-late/2, 1, Done)})
		}
	}
	for i, w := range s.Windows() {
		if want := float64(i+1) * 1000; w.Operations != 2 || w.Max != want || w.P50 < want-510 || w.P50 > want*1.01-490 {
			t.Errorf("window %d: %+v", i, w)
		}
	}
}

func TestLiveIsTheLastSecond(t *testing.T) {
	s := newSeries(t, false)
	r := s.Recorder(0)
	for i := range 3000 {
		end := time.Duration(i+1) * ms
		took := ms
		if i >= 2000 {
			took = 5 * ms
		}
		r.Add(end, []Op{at(end, took, 1, Done)})
	}
	live := s.Live(3000 * ms)
	if live.Phase != "first" || live.Operations != 3000 || live.PerSecond < 990 || live.PerSecond > 1010 || live.P99 < 5000 || live.P99 > 5040 {
		t.Errorf("%+v", live)
	}
	if live := s.Live(10 * time.Second); live.PerSecond != 0 || live.P99 != 0 || live.Operations != 3000 {
		t.Errorf("%+v", live)
	}
	if live := s.Live(0); live.PerSecond != 0 {
		t.Errorf("%+v", live)
	}
}

// Nothing is lost between clients, windows and phases, whoever looks meanwhile.
func TestManyClientsLoseNothing(t *testing.T) {
	s := newSeries(t, false)
	const clients, each = 100, 2000
	var wg sync.WaitGroup
	stop := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			s.Live(time.Duration(i) * ms)
			s.Phase(fmt.Sprint(i), time.Duration(i)*ms)
			runtime.Gosched()
		}
	})
	for c := range clients {
		wg.Go(func() {
			r := s.Recorder(c)
			for i := range each {
				end := time.Duration(i) * ms
				r.Add(end, []Op{at(end, ms, int64(c), Outcome(i%4)), at(end, ms, int64(c), Done)})
			}
		})
	}
	wg.Wait()
	close(stop)
	looking.Wait()
	count := func(c Clients) [4]int64 { return [4]int64{c.Operations, c.Failed, c.Unknown, c.Written} }
	want := [4]int64{2 * clients * each, clients * each * 3 / 4, clients * each / 4, 2 * clients * each * 30}
	if got := count(s.All().Clients); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := count(s.Between(0, time.Hour)); got != want {
		t.Errorf("between: %v, want %v", got, want)
	}
}

func TestConfigReportsAllFaults(t *testing.T) {
	_, err := NewSeries(SeriesConfig{}, "")
	if want := "result: a window of 0s is not between 1ms and 1h\nresult: no commands"; fmt.Sprint(err) != want {
		t.Error(err)
	}
}

// BenchmarkAdd is what an operation costs, of a pipeline of 16.
func BenchmarkAdd(b *testing.B) {
	s := newSeries(b, false)
	r := s.Recorder(0)
	ops := make([]Op, 16)
	b.ReportAllocs()
	for i := 0; i < b.N; i += len(ops) {
		end := time.Duration(i) * 2 * time.Microsecond
		for j := range ops {
			ops[j] = at(end, 300*time.Microsecond, int64(i), Done)
		}
		r.Add(end, ops)
	}
}
