package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// What applications build of several commands, under faults: lists to which transactions and
// scripts append, queues, and locks. Each workload knows what it may find in the end.

// refusals begin the errors that say that nothing was done.
var refusals = []string{"TRYAGAIN ", "CLUSTERDOWN ", "NOREPLICAS ", "EXECABORT "}

func isRefusal(err error) bool {
	return err != nil && slices.ContainsFunc(refusals, func(r string) bool { return strings.HasPrefix(err.Error(), r) })
}

// An appending is one transaction or script that appends an id to both lists of a tag, and
// reads them.
type appending struct {
	id           string
	began, ended time.Time
	err          error
	read         [2][]string // after its own append to each
}

// appends are those of one tag.
type appends struct {
	tag  string
	mu   sync.Mutex
	done []appending
}

func (a *appends) lists() []string { return []string{"{" + a.tag + "}x", "{" + a.tag + "}y"} }

const appendScript = `
	redis.call('RPUSH', KEYS[1], ARGV[1])
	local x = redis.call('LRANGE', KEYS[1], 0, -1)
	redis.call('RPUSH', KEYS[2], ARGV[1])
	return {x, redis.call('LRANGE', KEYS[2], 0, -1)}`

// add appends an id, by a script or by a transaction.
func (a *appends) add(ctx context.Context, client *redis.Client, id string, byScript bool) {
	one := appending{id: id, began: time.Now()}
	keys := a.lists()
	if byScript {
		var reply []any
		reply, one.err = client.Eval(ctx, appendScript, keys, id).Slice()
		for i := range reply {
			for _, v := range reply[i].([]any) {
				one.read[i] = append(one.read[i], v.(string))
			}
		}
	} else {
		var reads [2]*redis.StringSliceCmd
		_, one.err = client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			for i, key := range keys {
				p.RPush(ctx, key, id)
				reads[i] = p.LRange(ctx, key, 0, -1)
			}
			return nil
		})
		if one.err == nil {
			one.read = [2][]string{reads[0].Val(), reads[1].Val()}
		}
	}
	one.ended = time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done = append(a.done, one)
}

// check finds what is lost, doubled, out of order, or of which half was done. The order of the
// list is that of the transactions: both lists have the same one, each transaction has read
// what came before it, and none comes before one that had ended when it began.
func (a *appends) check(x, y []string) error {
	if !slices.Equal(x, y) {
		return fmt.Errorf("%s: the lists differ: %v and %v", a.tag, x, y)
	}
	at := make(map[string]int)
	for i, id := range x {
		if _, twice := at[id]; twice {
			return fmt.Errorf("%s: %s is there twice", a.tag, id)
		}
		at[id] = i
	}
	known := make(map[string]bool)
	var acked []appending
	for _, one := range a.done {
		known[one.id] = true
		i, there := at[one.id]
		switch {
		case one.err == nil && !there:
			return fmt.Errorf("%s: %s was acknowledged and is not there", a.tag, one.id)
		case isRefusal(one.err) && there:
			return fmt.Errorf("%s: %s was refused and is there: %w", a.tag, one.id, one.err)
		case one.err != nil:
			continue
		case !slices.Equal(one.read[0], x[:i+1]) || !slices.Equal(one.read[1], x[:i+1]):
			return fmt.Errorf("%s: %s has read %v, and what comes before it is %v", a.tag, one.id, one.read, x[:i+1])
		}
		acked = append(acked, one)
	}
	for id := range at {
		if !known[id] {
			return fmt.Errorf("%s: nobody has appended %s", a.tag, id)
		}
	}
	slices.SortFunc(acked, func(a, b appending) int { return at[a.id] - at[b.id] })
	var latest time.Time // at which one of those so far began
	for _, one := range acked {
		if one.ended.Before(latest) {
			return fmt.Errorf("%s: %s had ended when one before it began", a.tag, one.id)
		}
		if one.began.After(latest) {
			latest = one.began
		}
	}
	return nil
}

// jobs is a queue. They go from a list of those that wait to one of those at work, and from there
// to those that are done.
type jobs struct {
	tag string
	mu  sync.Mutex
	put map[string]error  // job to what its producer was told
	got map[string]string // job to the consumer that has it
	fin map[string]error  // job to what its consumer was told at its end
	bad error
}

func (q *jobs) list(which string) string { return "{" + q.tag + "}" + which }

func (q *jobs) produce(ctx context.Context, client *redis.Client, job string) {
	err := client.LPush(ctx, q.list("wait"), job).Err()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.put[job] = err
}

func (q *jobs) consume(ctx context.Context, client *redis.Client, name string, blocks bool) {
	var job string
	var err error
	if blocks {
		job, err = client.BLMove(ctx, q.list("wait"), q.list("work"), "RIGHT", "LEFT", time.Second).Result()
	} else {
		job, err = client.LMove(ctx, q.list("wait"), q.list("work"), "RIGHT", "LEFT").Result()
	}
	if err != nil {
		return
	}
	q.mu.Lock()
	if other, has := q.got[job]; has && q.bad == nil {
		q.bad = fmt.Errorf("%s: %s has got %s, which %s has", q.tag, name, job, other)
	}
	q.got[job] = name
	q.mu.Unlock()
	_, err = client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.LRem(ctx, q.list("work"), 1, job)
		p.RPush(ctx, q.list("done"), job)
		return nil
	})
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fin[job] = err
}

func (q *jobs) check(wait, work, done []string) error {
	if q.bad != nil {
		return q.bad
	}
	where := make(map[string]string)
	for name, list := range map[string][]string{"wait": wait, "work": work, "done": done} {
		for _, job := range list {
			if other, twice := where[job]; twice {
				return fmt.Errorf("%s: %s is in %s and in %s", q.tag, job, other, name)
			}
			where[job] = name
		}
	}
	for job, err := range q.put {
		at := where[job]
		end, ended := q.fin[job]
		_, got := q.got[job]
		switch {
		case err == nil && at == "":
			return fmt.Errorf("%s: %s is lost", q.tag, job)
		case isRefusal(err) && at != "":
			return fmt.Errorf("%s: %s was refused and is in %s", q.tag, job, at)
		case got && at == "wait":
			return fmt.Errorf("%s: %s waits and was given out", q.tag, job)
		case ended && end == nil && at != "done", ended && isRefusal(end) && at != "work":
			return fmt.Errorf("%s: the end of %s was answered by %v, and it is in %q", q.tag, job, end, at)
		}
	}
	for job := range where {
		if _, known := q.put[job]; !known {
			return fmt.Errorf("%s: nobody has put %s", q.tag, job)
		}
	}
	return nil
}

// A lock is a key that one client has at a time.
type lock struct {
	key    string
	inside atomic.Int32
	held   atomic.Int64
	bad    atomic.Bool
}

const unlockScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

// hold takes the lock if it is free, and gives it back. Where an answer is lost it looks for
// its token, until a node answers.
func (l *lock) hold(ctx context.Context, client *redis.Client, token string, rnd *rand.Rand) {
	ok, err := client.SetNX(ctx, l.key, token, 0).Result()
	if err == nil && !ok || isRefusal(err) || ctx.Err() != nil {
		return
	}
	if err == nil {
		if l.inside.Add(1) > 1 {
			l.bad.Store(true)
		}
		l.held.Add(1)
		time.Sleep(time.Duration(rnd.IntN(50)) * time.Millisecond) // virtual
		l.inside.Add(-1)
	}
	for ctx.Err() == nil {
		if client.Eval(ctx, unlockScript, []string{l.key}, token).Err() == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Lists to which transactions and scripts append, queues and locks hold what they promise
// while nodes join, crash, are cut off and leave.
func TestTransactionsQueuesAndLocksUnderFaults(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		rnd := rand.New(rand.NewPCG(seed, 23))
		ctx, stop := context.WithCancel(context.Background())
		tags := []string{"p", "q", "r", "s", "t", "u"}
		if isBrief() {
			tags = tags[:1]
		}
		var workers sync.WaitGroup
		work := func(i int, do func(client *redis.Client, rnd *rand.Rand, n int)) {
			client, rnd := c.client(string(rune('a'+i%3))), rand.New(rand.NewPCG(seed, uint64(1000+i)))
			workers.Go(func() {
				defer client.Close()
				for n := 0; ctx.Err() == nil; n++ {
					do(client, rnd, n)
					time.Sleep(time.Duration(50+rnd.IntN(150)) * time.Millisecond) // virtual
				}
			})
		}
		var lists []*appends
		var queues []*jobs
		var locks []*lock
		for at, tag := range tags {
			a := &appends{tag: "list-" + tag}
			q := &jobs{tag: "queue-" + tag, put: map[string]error{}, got: map[string]string{}, fin: map[string]error{}}
			l := &lock{key: "lock-" + tag}
			lists, queues, locks = append(lists, a), append(queues, q), append(locks, l)
			for i := range 3 {
				name := fmt.Sprint(at*3 + i)
				work(i, func(client *redis.Client, rnd *rand.Rand, n int) {
					a.add(ctx, client, fmt.Sprint(name, ".", n), rnd.IntN(2) == 0)
				})
				work(i+1, func(client *redis.Client, rnd *rand.Rand, n int) {
					q.produce(ctx, client, fmt.Sprint(name, ".", n))
				})
				work(i+2, func(client *redis.Client, rnd *rand.Rand, n int) {
					q.consume(ctx, client, name, rnd.IntN(2) == 0)
				})
				work(i, func(client *redis.Client, rnd *rand.Rand, n int) {
					l.hold(ctx, client, fmt.Sprint(name, ".", n), rnd)
				})
			}
		}
		pause := func() { time.Sleep(time.Duration(500+rnd.IntN(3000)) * time.Millisecond) }
		pause()
		c.start("d", "a")
		pause()
		for range turns(6) {
			victim := []string{"a", "b", "c"}[rnd.IntN(3)]
			if rnd.IntN(2) == 0 {
				c.say("%s crashes", victim)
				c.crash(victim)
				pause()
				c.start(victim, c.running()...)
			} else {
				c.say("%s is cut off", victim)
				c.net.Move(1, c.nodes[victim].ip)
				pause()
				c.net.Move(0, c.nodes[victim].ip)
			}
			pause()
			c.copied(1)
		}
		leaving, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		c.nodes["d"].leaves = true
		if err := c.nodes["d"].Leave(leaving); err != nil {
			t.Error(err)
		}
		cancel()
		c.stop("d")
		pause()
		stop()
		workers.Wait()
		time.Sleep(time.Minute) // virtual: what was on its way has ended
		last := c.client("a")
		defer last.Close()
		all := func(key string) []string {
			ids, err := last.LRange(context.Background(), key, 0, -1).Result()
			if err != nil {
				t.Errorf("%s: %v", key, err)
			}
			return ids
		}
		var faults []error
		for i := range tags {
			x, y := all(lists[i].lists()[0]), all(lists[i].lists()[1])
			q := queues[i]
			faults = append(faults, lists[i].check(x, y), q.check(all(q.list("wait")), all(q.list("work")), all(q.list("done"))))
			if locks[i].bad.Load() {
				faults = append(faults, fmt.Errorf("%s was held twice at a time", locks[i].key))
			}
			if len(x) == 0 || len(q.got) == 0 || locks[i].held.Load() == 0 {
				faults = append(faults, fmt.Errorf("%d appends, %d jobs and %d locks: too few", len(x), len(q.got), locks[i].held.Load()))
			}
			c.say("%d appends, %d jobs, %d locks", len(x), len(q.put), locks[i].held.Load())
		}
		if err := errors.Join(faults...); err != nil {
			t.Error(err)
		}
		c.close()
	})
}
