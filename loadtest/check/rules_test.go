package check

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

// A talk is commands of one client, one after the other, each a millisecond long, with
// answers as they are told.
type talk struct {
	*history
	c      *Client
	source *workload.Filler
}

func newTalk(t *testing.T, fresh bool) *talk {
	h := newHistory(t, 1, "1 get", "", 1, 10, fresh)
	return &talk{h, h.model.Client(1), h.cfg.Filler(0)}
}

// say sends a command and gets an answer.
func (k *talk) say(kind Kind, op *workload.Op, a Answer) {
	k.t.Helper()
	k.server.now += time.Millisecond
	k.c.Begin(kind, op, k.server.now)
	k.server.now += time.Millisecond
	k.c.End(&a, k.server.now)
}

// write is a command that writes key 0, and the value.
func (k *talk) write(ttl time.Duration) (*workload.Op, []byte) {
	op := copied(k.source.Write(0))
	if ttl > 0 {
		op.Args = append(op.Args, []byte("PX"), strconv.AppendInt(nil, ttl.Milliseconds(), 10))
	}
	return op, op.Args[2]
}

func (k *talk) set(ttl time.Duration) []byte {
	op, v := k.write(ttl)
	k.say(Set, op, Answer{})
	return v
}

func (k *talk) del(o result.Outcome) {
	op, _ := k.write(0)
	k.say(Delete, op, Answer{Outcome: o})
}

func (k *talk) incr(n int64) {
	k.say(Incr, &workload.Op{Keys: []int64{0}, Write: 1}, Answer{Integer: n})
}

func (k *talk) exists(n int64) { k.say(Exists, &workload.Op{Keys: []int64{0}}, Answer{Integer: n}) }

func TestValuesExpireWhenTheyShould(t *testing.T) {
	k := newTalk(t, true)
	v := k.set(100 * time.Millisecond)
	k.read(0, v)
	k.expect("there", [verdicts]int64{})
	k.read(0, nil)
	k.exists(0)
	k.expect("gone too early", [verdicts]int64{lost: 2})
	k.server.now += 100 * time.Millisecond
	k.read(0, v)
	k.read(0, nil)
	k.exists(1)
	k.exists(0)
	k.expect("anything goes about the time", [verdicts]int64{lost: 2})
	k.server.now += 2 * slack
	k.read(0, nil)
	k.exists(0)
	k.expect("gone", [verdicts]int64{lost: 2})
	k.read(0, v)
	k.exists(1)
	k.expect("there too long", [verdicts]int64{lost: 2, stale: 2})
}

func TestDeletedKeysDoNotExist(t *testing.T) {
	k := newTalk(t, true)
	v := k.set(0)
	k.del(result.Unknown)
	for _, seen := range [][]byte{v, nil, v} {
		k.read(0, seen)
	}
	k.expect("nobody knows whether it is deleted", [verdicts]int64{})
	k = newTalk(t, true)
	v = k.set(0)
	k.del(result.Refused)
	k.read(0, nil)
	k.expect("it is not deleted", [verdicts]int64{lost: 1})
	k.del(result.Done)
	k.read(0, nil)
	k.exists(0)
	k.expect("it is", [verdicts]int64{lost: 1})
	k.read(0, v)
	k.exists(1)
	k.expect("and back again", [verdicts]int64{lost: 1, stale: 2})
}

func TestSetIfAbsentRepliesWithPresentValue(t *testing.T) {
	k := newTalk(t, true)
	op, v := k.write(0)
	k.say(SetNX, op, Answer{Integer: 1})
	k.read(0, v)
	op, _ = k.write(0)
	k.say(SetNX, op, Answer{Integer: 0})
	k.read(0, v)
	k.expect("as it should be", [verdicts]int64{})
	op, w := k.write(0)
	k.say(SetNX, op, Answer{Integer: 1})
	k.expect("something was there", [verdicts]int64{lost: 1})
	k.read(0, w)
	k.del(result.Done)
	op, _ = k.write(0)
	k.say(SetNX, op, Answer{Integer: 0})
	k.expect("nothing was there", [verdicts]int64{lost: 1, stale: 1})
}

func TestCountersAreNeitherTooHighNorTooLow(t *testing.T) {
	for _, fresh := range []bool{true, false} {
		k := newTalk(t, fresh)
		if !fresh {
			k.incr(700) // nobody knows what was there
			k.read(0, []byte("5"))
			k.read(0, nil)
			k.expect("from before", [verdicts]int64{})
			k = newTalk(t, fresh)
			op := &workload.Op{Args: [][]byte{nil, nil, []byte("0")}, Keys: []int64{0}, Write: 1}
			k.say(Zero, op, Answer{})
		}
		for n := range int64(3) {
			k.incr(n + 1)
		}
		k.read(0, []byte("3"))
		k.expect("counted", [verdicts]int64{})
		k.read(0, []byte("2"))
		k.expect("too low", [verdicts]int64{stale: 1})
		k.read(0, []byte("4"))
		k.read(0, []byte("-1"))
		k.expect("too high", [verdicts]int64{stale: 1, corrupt: 2})
		k.read(0, nil)
		k.expect("gone", [verdicts]int64{lost: 1, stale: 1, corrupt: 2})
		k.incr(3)
		k.expect("one is missing", [verdicts]int64{lost: 1, stale: 2, corrupt: 2})
		k.incr(6)
		k.expect("one too many", [verdicts]int64{lost: 1, stale: 2, corrupt: 3})
	}
}

func TestRefusalOfSeveralKeysMayConcernOne(t *testing.T) {
	k := newTalk(t, true)
	k.set(0)
	op, v := k.write(0)
	op.Keys = append(op.Keys, 1)
	k.say(Set, op, Answer{Outcome: result.Refused})
	k.read(0, v)
	k.expect("it may be there", [verdicts]int64{})
	op, v = k.write(0)
	k.say(Set, op, Answer{Outcome: result.Refused})
	k.read(0, v)
	k.expect("it was said not to be", [verdicts]int64{stale: 1})
}

func TestUnknownCommandEndsJudgement(t *testing.T) {
	k := newTalk(t, true)
	k.set(0)
	k.say(Other, &workload.Op{}, Answer{}) // FLUSHALL
	k.read(0, nil)
	k.read(0, []byte("x"))
	k.expect("nobody knows", [verdicts]int64{})
}

func TestKeysFromBeforeAreJudgedOnceTheyAreWritten(t *testing.T) {
	k := newTalk(t, false)
	k.read(0, []byte("old"))
	k.read(0, nil)
	k.expect("who knows", [verdicts]int64{})
	k.set(0)
	k.read(0, []byte("old"))
	k.expect("it was overwritten", [verdicts]int64{corrupt: 1})
	k = newTalk(t, true)
	k.read(0, []byte("old"))
	k.expect("there was nothing", [verdicts]int64{corrupt: 1})
}

func TestMemoryOfAKeyIsBounded(t *testing.T) {
	k := newTalk(t, true)
	for range 10_000 {
		k.set(0)
	}
	if n := len(k.model.keys.find(0, false).writes); n > 10 {
		t.Errorf("%d writes are known after as many that are overwritten", n)
	}
	// A client that never comes back holds everything up.
	k.model.Client(0).Begin(Get, &workload.Op{Keys: []int64{5}}, k.server.now)
	var first []byte
	for range 10_000 {
		op, v := k.write(0)
		k.say(Set, op, Answer{Outcome: result.Unknown})
		k.set(0)
		if first == nil {
			first = v
		}
	}
	if n := len(k.model.keys.find(0, false).writes); n > maxWrites {
		t.Errorf("%d writes are known after as many with an unknown outcome", n)
	}
	v := k.set(0)
	k.read(0, v)
	k.read(0, first) // it may have come late
	k.expect("still right", [verdicts]int64{})
	k.read(0, []byte("garbage"))
	k.expect("still wrong", [verdicts]int64{corrupt: 1})
}

func TestExamplesNameTheFault(t *testing.T) {
	k := newTalk(t, true)
	k.set(0)
	for range 20 {
		k.read(0, nil)
	}
	c := k.model.Checked()
	want := "lost: key 0, asked for at 3ms: read nothing, although a write that began at 1ms was acknowledged before"
	if c.Reads != 20 || c.Lost != 20 || len(c.Examples) != maxExamples || c.Examples[0] != want {
		t.Errorf("%+v", c)
	}
	k.model.Final(7, 2)
	if c = k.model.Checked(); c.FinalKeys != 7 || c.FinalUnread != 2 {
		t.Errorf("%+v", c)
	}
}

func TestConfigReportsAllFaults(t *testing.T) {
	_, err := NewModel(Config{Clients: 0, Slack: -1})
	if want := "check: 0 clients are not within 1..131072\ncheck: a slack of -1ns is below 0"; fmt.Sprint(err) != want {
		t.Errorf("%v", err)
	}
}

// BenchmarkOperation is what a command costs, begun and ended, with many clients at once.
func BenchmarkOperation(b *testing.B) {
	for _, kind := range []Kind{Get, Set} {
		b.Run(map[Kind]string{Get: "get", Set: "set"}[kind], func(b *testing.B) {
			const keys = 100_000
			sizes, _ := workload.ParseSizes("48")
			cfg := workload.Config{Clients: 1, Keys: keys, Sizes: sizes, Stamped: true}
			m, err := NewModel(Config{Clients: 100, Fresh: true})
			if err != nil {
				b.Fatal(err)
			}
			values := make([][]byte, keys)
			f, c := cfg.Filler(0), m.Client(1)
			for key := range values {
				op := f.Write(int64(key))
				values[key] = append([]byte(nil), op.Args[2]...)
				c.Begin(Set, op, 1)
				c.End(&Answer{}, 2)
			}
			op := workload.Op{Args: make([][]byte, 3), Keys: []int64{0}}
			a := Answer{Values: make([][]byte, 1)}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				op.Keys[0] = int64(i) * 7919 % keys
				op.Write = uint64(keys + i + 1)
				now := time.Duration(i) * time.Microsecond
				c.Begin(kind, &op, now)
				a.Values[0] = values[op.Keys[0]]
				c.End(&a, now+1)
			}
		})
	}
}

func TestKeysOfAnyNumberAreKnown(t *testing.T) {
	k := newTalk(t, true)
	numbers := []int64{0, 63, 64, pagedKeys - 1, pagedKeys, workload.MaxKeys - 1}
	for i, number := range numbers {
		k.read(number, nil)
		op := copied(k.source.Write(number))
		k.say(Set, op, Answer{})
		k.read(number, op.Args[2])
		k.expect("there", [verdicts]int64{lost: int64(i)})
		k.read(number, nil)
		k.expect("gone", [verdicts]int64{lost: int64(i + 1)})
	}
	if got := k.model.Keys(); !slices.Equal(got, numbers) {
		t.Errorf("%v", got)
	}
}
