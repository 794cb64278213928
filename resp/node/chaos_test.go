package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node/nodetest"
)

// A disk is a node's, under the store. One that is low says that it is full, and takes
// writes.
type disk struct {
	full, low atomic.Bool
	unsynced  atomic.Bool                   // what is written is not stored: each fsync of a log, and each new table, fails
	stuck     atomic.Pointer[chan struct{}] // closed when it answers again; nil while it does
}

// stall lets the disk not answer writes until end is called.
func (d *disk) stall() (end func()) {
	until := make(chan struct{})
	if !d.stuck.CompareAndSwap(nil, &until) {
		return func() {}
	}
	return func() {
		d.stuck.Store(nil)
		close(until)
	}
}

// wait returns once the disk answers.
func (d *disk) wait() {
	if until := d.stuck.Load(); until != nil {
		<-*until
	}
}

// A fullFS tells when it is full, which keeps a store from what it could not undo.
type fullFS struct {
	vfs.FS
	d *disk
}

func (f fullFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	u := vfs.DiskUsage{AvailBytes: 1 << 40, TotalBytes: 1 << 41, UsedBytes: 1 << 40}
	if f.d.full.Load() || f.d.low.Load() {
		u = vfs.DiskUsage{TotalBytes: 1 << 41, UsedBytes: 1 << 41}
	}
	return u, nil
}

func (d *disk) over(fs vfs.FS) vfs.FS {
	return fullFS{d: d, FS: errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch op.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo, errorfs.OpRename, errorfs.OpRemove:
			d.wait()
			if d.unsynced.Load() && strings.HasSuffix(op.Path, ".wal") {
				return syscall.EIO
			}
		case errorfs.OpCreate, errorfs.OpFileWrite, errorfs.OpFilePreallocate:
			d.wait()
			if d.full.Load() {
				return syscall.ENOSPC
			}
			if d.unsynced.Load() && strings.HasSuffix(op.Path, ".sst") {
				return syscall.EIO
			}
		}
		return nil
	}))}
}

// What happens to a cluster whose clients are watched. Faults end by themselves.
type storm struct {
	*virtualCluster
	rnd   *rand.Rand
	grays map[string]*gray // what lies under each node
	ends  sync.WaitGroup   // of faults
	after time.Time        // when the last one ends
	hosts int              // addresses given out
	want  int              // copies beside the primary
	rates map[string]float64
	at    sync.Map // node to its address, for clients
}

func (s *storm) join(id string) {
	s.grays[id] = new(gray)
	var others []string
	for other := range s.nodes {
		if other != id {
			others = append(others, other)
		}
	}
	slices.Sort(others)
	s.start(id, others...)
	s.at.Store(id, s.nodes[id].ip)
}

// synced waits until the nodes that run agree that they, and nobody else, have everything,
// each range as often as it is wanted; it tells how long that took.
func (s *storm) synced(bound time.Duration) time.Duration {
	s.t.Helper()
	began, why := time.Now(), ""
	for time.Since(began) < bound {
		if why = s.unsynced(); why == "" {
			return time.Since(began)
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.tell()
	s.t.Errorf("not in sync %v after the last fault: %s", bound, why)
	return bound
}

func (s *storm) unsynced() string {
	ids := s.running()
	for _, id := range ids {
		if err := s.nodes[id].Err(); err != nil {
			return fmt.Sprintf("%s has ended: %v", id, err)
		}
		cl := s.nodes[id].cluster
		st := cl.table.State()
		var members []string
		for _, m := range st.MembersOf() {
			members = append(members, m.ID)
		}
		if !slices.Equal(members, ids) {
			return fmt.Sprintf("%s sees the members %v", id, members)
		}
		for row := range st.Rows() {
			n, _ := st.Node(row.Primary)
			if len(row.Learners) > 0 || row.Incarnation != n.Incarnation || len(row.Backups) != min(s.want, len(ids)-1) {
				return fmt.Sprintf("%s sees %+v", id, row)
			}
		}
		if more, err := replica.DesiredHandoffs(st, cl.strategy, replica.Absence{}); err != nil || len(more) > 0 || len(st.Handoffs()) > 0 {
			return fmt.Sprintf("%s sees %d handoffs, %d more to come, %v", id, len(st.Handoffs()), len(more), err)
		}
	}
	return ""
}

// halt is stop for a node whose disk may have been full, and that clients or other nodes
// may not hear, which it may say in the end.
func (s *storm) halt(id string) {
	v := s.nodes[id]
	if err := v.Close(); err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, context.DeadlineExceeded) {
		s.t.Errorf("%s: %v", id, err)
	}
	v.Node = nil
}

// later ends a fault.
func (s *storm) later(d time.Duration, end func()) {
	if at := time.Now().Add(d); at.After(s.after) {
		s.after = at
	}
	s.ends.Go(func() {
		time.Sleep(d)
		end()
	})
}

// some is a while: short ones are as frequent as long ones.
func (s *storm) some() time.Duration {
	return time.Duration(500*(1<<s.rnd.IntN(6)))*time.Millisecond + time.Duration(s.rnd.IntN(1000))*time.Millisecond
}

func (s *storm) ips(not string) []string {
	var ips []string
	for _, id := range slices.Sorted(maps.Keys(s.nodes)) {
		if id != not {
			ips = append(ips, s.nodes[id].ip)
		}
	}
	return ips
}

// mute cuts ways between nodes; clients reach all of them.
func (s *storm) mute(from, to []string, on bool) {
	for _, a := range from {
		for _, b := range to {
			if a != b {
				s.net.Mute(a, b, on)
			}
		}
	}
}

// mishaps are the kinds of what goes wrong: each begins with a victim that runs, and says
// what it does. Each of grayStates is one, too.
var mishaps = map[string]func(s *storm, victim string) string{
	"crash": func(s *storm, victim string) string {
		s.net.Freeze(s.nodes[victim].ip, false)
		s.crash(victim)
		return "crashes"
	},
	"stop": func(s *storm, victim string) string {
		s.net.Freeze(s.nodes[victim].ip, false)
		s.grays[victim].disk.full.Store(false)
		s.halt(victim)
		return "stops"
	},
	"freeze": func(s *storm, victim string) string {
		// What it writes to its own disk meanwhile is seen by nobody: as if it had done so
		// before or after.
		d, ip := min(s.some(), 30*time.Second), s.nodes[victim].ip
		s.net.Freeze(ip, true)
		s.later(d, func() { s.net.Freeze(ip, false) })
		return fmt.Sprintf("stands still for %v", d)
	},
	"cut off": func(s *storm, victim string) string {
		d, ip, others := s.some(), []string{s.nodes[victim].ip}, s.ips(victim)
		in, out := true, true
		what := "is cut off"
		switch s.rnd.IntN(4) {
		case 0:
			in, what = false, "is not heard"
		case 1:
			out, what = false, "hears nobody"
		}
		if s.rnd.IntN(2) == 0 {
			others = others[:1+s.rnd.IntN(len(others))]
			what += fmt.Sprintf(" by %v", others)
		}
		cut := func(on bool) {
			if in {
				s.mute(others, ip, on)
			}
			if out {
				s.mute(ip, others, on)
			}
		}
		cut(true)
		s.later(d, func() { cut(false) })
		return fmt.Sprintf("%s for %v", what, d)
	},
	"flap": func(s *storm, victim string) string {
		ip, others := []string{s.nodes[victim].ip}, s.ips(victim)
		d := s.some()
		for at := time.Duration(0); at < d; {
			at += time.Duration(50+s.rnd.IntN(2000)) * time.Millisecond
			s.later(at, func() { s.mute(others, ip, true) })
			at += time.Duration(50+s.rnd.IntN(2000)) * time.Millisecond
			s.later(at, func() { s.mute(others, ip, false) })
		}
		return fmt.Sprintf("comes and goes for %v", d)
	},
	"full log": func(s *storm, victim string) string {
		d := s.some()
		s.later(d, set(&s.grays[victim].log))
		return fmt.Sprintf("cannot write the log of the table for %v", d)
	},
	"switch": func(s *storm, victim string) string {
		to := []string{StrategyBuckets, StrategyKetama, StrategyVnode}[s.rnd.IntN(3)]
		ctx, cancel := context.WithTimeout(context.Background(), s.some())
		defer cancel()
		return fmt.Sprintf("switches to %s: %v", to, s.nodes[victim].cluster.switcher.run(ctx, to, nil))
	},
	"leave": func(s *storm, victim string) string {
		if len(s.running()) <= 3 {
			return ""
		}
		ctx, cancel := context.WithTimeout(context.Background(), s.some())
		defer cancel()
		s.nodes[victim].leaves = true
		err := s.nodes[victim].Leave(ctx)
		if err == nil {
			s.halt(victim)
		}
		return fmt.Sprintf("leaves: %v", err)
	},
}

func init() {
	for name, state := range grayStates {
		mishaps[name] = func(s *storm, victim string) string {
			d := s.some()
			s.later(d, state.begin(s.virtualCluster, victim, s.grays[victim]))
			return fmt.Sprintf("%s, for %v", name, d)
		}
	}
}

// happen lets one thing go wrong, or right.
func (s *storm) happen() {
	up := s.running()
	var down []string
	for _, id := range slices.Sorted(maps.Keys(s.nodes)) {
		if v := s.nodes[id]; v.Node == nil && !v.leaves {
			down = append(down, id)
		}
	}
	switch {
	case len(down) > 0 && (len(up) == 0 || s.rnd.IntN(2) == 0):
		id := down[s.rnd.IntN(len(down))]
		if s.rnd.IntN(3) == 0 {
			s.hosts++
			s.nodes[id].ip = fmt.Sprintf("10.0.2.%d", s.hosts)
		}
		s.say("%s starts again at %s", id, s.nodes[id].ip)
		s.join(id)
	case len(s.nodes) < 6 && s.rnd.IntN(8) == 0:
		id := string(rune('a' + len(s.nodes)))
		s.say("%s joins", id)
		s.join(id)
	case len(up) > 0:
		kinds := slices.Sorted(maps.Keys(mishaps))
		victim := up[s.rnd.IntN(len(up))]
		began := time.Since(s.began)
		if what := mishaps[kinds[s.rnd.IntN(len(kinds))]](s, victim); what != "" {
			s.say("(since %.3fs) %s %s", began.Seconds(), victim, what)
		}
	}
}

// clear ends all faults and starts what does not run.
func (s *storm) clear() {
	s.ends.Wait()
	for _, id := range slices.Sorted(maps.Keys(s.nodes)) {
		if v := s.nodes[id]; v.Node == nil && !v.leaves {
			s.join(id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.nodes)) {
		if v := s.nodes[id]; v.Node != nil && v.leaves {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			err := v.Leave(ctx)
			cancel()
			if err != nil {
				s.tell()
				s.t.Errorf("%s does not leave: %v", id, err)
			}
			s.halt(id)
		}
	}
}

// doers are ways to every node, wherever it is at the time.
func (s *storm) doers(name int, wires *[]*nodetest.Wire, ids []string) map[string]nodetest.Doer {
	doers := map[string]nodetest.Doer{}
	for _, id := range ids {
		w := &nodetest.Wire{Dial: func(ctx context.Context) (net.Conn, error) {
			ip, _ := s.at.Load(id)
			return s.net.Host(fmt.Sprintf("10.0.1.%d", name)).Dial(ctx, ip.(string)+":6379")
		}}
		*wires = append(*wires, w)
		doers[id] = w.Do
	}
	return doers
}

// Under whatever happens, clients see what one server could have answered; and when it
// is over, everything is served, in sync, within a bound.
func TestChaosLooksLikeOneServer(t *testing.T) {
	for _, seed := range seeds(t, 3, 300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			var r *nodetest.Recorder
			fakenet.Bubble(t, func(t *testing.T) { r = weather(t, seed) })
			if r == nil {
				return
			}
			c := r.Counts()
			t.Logf("%+v", c)
			switch err := r.Check(); {
			case errors.Is(err, nodetest.ErrWrong):
				t.Error(err)
			case err != nil:
				t.Log(err) // not decided, which is no fault of the nodes
			}
		})
		if t.Failed() {
			t.Fatalf("set RINGSIDE_TEST_SEED=%d to see it again", seed)
		}
	}
}

func weather(t *testing.T, seed uint64) *nodetest.Recorder {
	rnd := rand.New(rand.NewPCG(seed, 13))
	placing := []string{StrategyBuckets, StrategyKetama, StrategyVnode}[rnd.IntN(3)]
	fsync := []string{"always", "everysec"}[rnd.IntN(2)]
	s := &storm{rnd: rnd, grays: map[string]*gray{}, rates: map[string]float64{}, want: rnd.IntN(3)}
	s.virtualCluster = newVirtualCluster(t, seed, time.Duration(1+rnd.IntN(20))*time.Millisecond, 0.05*rnd.Float64(), func(cfg *Config) {
		cfg.Strategy, cfg.Fsync = placing, fsync
		if s.rates[cfg.ID] == 0 {
			s.rates[cfg.ID] = 0.96 + 0.08*rnd.Float64() // clocks that differ by up to 8 %
		}
		rate, now := s.rates[cfg.ID], cfg.env.Now
		cfg.env.Now = func() time.Duration { return time.Duration(rate * float64(now())) }
		s.grays[cfg.ID].under(cfg)
		cfg.MinFreeDisk = 1 << 20
	})
	s.say("%s, %s, %d backups", placing, fsync, s.want)
	for _, id := range []string{"a", "b", "c"} {
		s.join(id)
	}
	s.settled()
	if !t.Failed() {
		if _, err := s.nodes["a"].cluster.table.Apply(t.Context(), &table.SetBackups{Backups: s.want}); err != nil {
			t.Error(err)
		}
		s.say("in sync after %v", s.synced(time.Minute))
	}
	if t.Failed() {
		return nil
	}
	r := nodetest.NewRecorder("")
	var wires []*nodetest.Wire
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for i := range 4 {
		c := &nodetest.HistoryClient{
			Name: fmt.Sprint("c", i), Nodes: s.doers(1+i, &wires, []string{"a", "b", "c"}),
			Patience: []time.Duration{time.Second, 10 * time.Second, time.Minute}[rnd.IntN(3)], Pause: 40 * time.Millisecond,
			Recorder: r, Rand: rand.New(rand.NewPCG(seed, uint64(20+i))),
		}
		clients.Go(func() { c.Run(stop) })
	}
	for range happenings(rnd) {
		time.Sleep(time.Duration(rnd.IntN(5000)) * time.Millisecond)
		s.happen()
	}
	s.clear()
	s.say("all is well again")
	s.say("in sync after %v", s.synced(2*time.Minute))
	time.Sleep(time.Second)
	close(stop)
	clients.Wait()
	last := &nodetest.HistoryClient{
		Name: "last", Nodes: s.doers(9, &wires, s.running()), Patience: 10 * time.Second, Recorder: r, Rand: rnd,
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := last.ReadAll(ctx); err != nil {
		t.Error(err)
	}
	for _, w := range wires {
		w.Close()
	}
	s.close()
	return r
}
