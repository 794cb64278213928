package storage

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/stream"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
	"github.com/ringside-kv/ringside/store"
)

func openData(t *testing.T) Store {
	t.Helper()
	placing, err := strategy.DefaultConfig().New()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Config{Dir: t.TempDir(), Strategy: "buckets", Hash: "native", Token: placing.Token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return Store{s}
}

// set writes a value, or without one deletes the key.
func (s Store) set(t *testing.T, key string, value []byte) {
	t.Helper()
	u := s.NewUnit()
	k := []byte(key)
	u.Begin(time.Now().UnixMilli(), []store.Place{u.Place(k)})
	v, err := u.Get(k)
	switch {
	case err != nil:
	case value == nil:
		u.Delete(k, v)
	default:
		err = u.PutString(k, v, value, 0, false)
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := u.Commit(nil); err != nil {
		t.Error(err)
	}
}

func (s Store) value(t *testing.T, key string) []byte {
	t.Helper()
	u := s.NewUnit()
	u.Begin(time.Now().UnixMilli(), nil)
	defer u.Abort()
	v, err := u.Get([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	if !v.Exists() {
		return nil
	}
	b, err := u.Bytes([]byte(key), v)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte{}, b...)
}

// A joint is a range on its way from one store to another, without a network.
type joint struct {
	mu   sync.Mutex
	to   Store
	in   replica.IncomingCopy
	out  replica.OutgoingCopy
	sent int
	err  error
}

func join(t *testing.T, from, to Store, r ring.Range) *joint {
	t.Helper()
	ranges := []ring.Range{r}
	j := &joint{to: to, in: to.ReceiveCopies(ranges)[0]}
	out, err := from.StartCopies(ranges, j.sink, func() {})
	if err != nil {
		t.Fatal(err)
	}
	j.out = out[0]
	return j
}

func (j *joint) sink(_ int, batch []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sent += len(batch)
	if err := j.in.Apply(batch, func(error) {}); err != nil && j.err == nil {
		j.err = err
	}
}

// step copies a little more.
func (j *joint) step(t *testing.T) (done bool) {
	t.Helper()
	for question := j.out.Ask(); question != nil; question = j.out.Ask() {
		j.mu.Lock()
		frame := append([]byte(nil), question...)
		answer, err := j.in.Answer(frame)
		clear(frame) // the next question lies in its place
		j.mu.Unlock()
		if err == nil {
			err = j.out.Answer(answer)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	done, err := j.out.Step(64 << 10)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func (j *joint) close(t *testing.T) {
	t.Helper()
	j.out.Close()
	j.to.CloseCopies([]replica.IncomingCopy{j.in})
	if j.err != nil {
		t.Error(j.err)
	}
}

// A copy that ended in the middle goes on: what the receiver has is not sent again, what
// was written or deleted meanwhile is put right, and live changes of either part arrive.
func TestResumedCopySendsDifferences(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	from, to := openData(t), openData(t)
	want := make(map[string][]byte)
	written := 0
	write := func(key string, size int) {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(rnd.Uint32() | 1)
		}
		from.set(t, key, b)
		want[key] = b
		written += size
	}
	for i := range 2000 {
		size := 1000
		if i%100 == 0 {
			size = 300_000
		}
		write(fmt.Sprint("key", i), size)
	}
	change := func(r ring.Range) {
		key := fmt.Sprint("key", rnd.IntN(2000))
		for !r.Contains(from.NewUnit().Place([]byte(key)).Token()) {
			key = fmt.Sprint("key", rnd.IntN(2000))
		}
		switch rnd.IntN(4) {
		case 0:
			from.set(t, key, nil)
			delete(want, key)
		case 1:
			write(key, 100_000)
		default:
			write(key, 500)
		}
	}
	for _, r := range []ring.Range{{Start: 0x90000000, End: 0x10000000}, {Start: 0x10000000, End: 0x90000000}} {
		before := written
		first := join(t, from, to, r)
		for range 30 {
			first.step(t)
			change(r)
		}
		first.close(t)
		for range 10 {
			change(r)
		}
		again := join(t, from, to, r)
		for !again.step(t) {
		}
		for range 10 {
			change(r)
		}
		again.close(t)
		if most := int(from.Load(r).Bytes)*5/4 + written - before; first.sent+again.sent > most {
			t.Errorf("%d bytes and then %d were sent, at most %d had to be", first.sent, again.sent, most)
		}
		if first.sent < 1_000_000 || again.sent < 1_000_000 {
			t.Errorf("%d bytes and then %d were sent: that is not half and half", first.sent, again.sent)
		}
	}
	for i := range 2000 {
		key := fmt.Sprint("key", i)
		if got := to.value(t, key); !bytes.Equal(got, want[key]) {
			t.Errorf("%s has %d bytes, not %d", key, len(got), len(want[key]))
		}
	}
	if a, b := from.Load(ring.Whole), to.Load(ring.Whole); a.Keys != b.Keys || a.Bytes != b.Bytes {
		t.Errorf("%+v and %+v", a, b)
	}
}

// takes is a replica.Receiver of one range.
type takes struct{ in replica.IncomingCopy }

func (k takes) Open([]byte) error  { return nil }
func (k takes) Begin([]byte) error { return nil }
func (k takes) Apply(_ int, batch []byte, done func(error)) error {
	return k.in.Apply(batch, done)
}
func (k takes) Ask(_ int, question []byte) ([]byte, error) { return k.in.Answer(question) }

// The longest of values passes while its key is being followed, and those who write
// besides are not held back for long by it.
func TestLongestValueIsCopied(t *testing.T) {
	randomtest.DrawShort(t, 4)
	size := 48 << 20
	if os.Getenv("RINGSIDE_LONG") != "" {
		size = 512 << 20
	}
	from, to := openData(t), openData(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = stream.Receive(conn, takes{to.ReceiveCopies([]ring.Range{ring.Whole})[0]})
		}
		ended <- err
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := stream.New(conn, nil)
	outs, err := from.StartCopies([]ring.Range{ring.Whole}, func(i int, b []byte) { _ = s.Send(i, b) }, s.Pace)
	if err != nil {
		t.Fatal(err)
	}
	out := outs[0]
	ctx := context.Background()
	for done := false; !done; {
		for question := out.Ask(); question != nil; question = out.Ask() {
			answer, err := s.Ask(ctx, 0, question)
			if err == nil {
				err = out.Answer(answer)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if done, err = out.Step(1 << 20); err != nil {
			t.Fatal(err)
		}
	}
	value := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	from.set(t, "long", value)
	for i := range 20 {
		from.set(t, fmt.Sprint("other", i), []byte("x"))
	}
	if err := s.Drained(ctx); err != nil {
		t.Fatal(err)
	}
	out.Close()
	s.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !bytes.Equal(to.value(t, "long"), value) || to.Load(ring.Whole).Keys != 21 {
		t.Error("not all has arrived")
	}
}

// A range of more entries than one answer stands for, of which most are equal, and few
// groups.
func TestDigestsOfALargeRangeComeInParts(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 140,000 values one by one")
	}
	from, to := openData(t), openData(t)
	const keys = 5 * maxDigestEntries
	r := ring.Range{Start: 0x40000000, End: 0xC0000000}
	n := 0
	for i := range keys {
		key := fmt.Sprint("key", i)
		from.set(t, key, []byte("value"))
		if i%3 != 1 {
			to.set(t, key, []byte("value"))
		}
		if r.Contains(from.NewUnit().Place([]byte(key)).Token()) {
			n++
		}
	}
	if n < 2*maxDigestEntries {
		t.Fatalf("%d keys are in the range", n)
	}
	j := join(t, from, to, r)
	for !j.step(t) {
	}
	j.close(t)
	if a, b := from.Load(r), to.Load(r); a != b {
		t.Errorf("%+v and %+v", a, b)
	}
	if most := n / 3 * 50; j.sent > most {
		t.Errorf("%d bytes were sent of %d keys, not %d", j.sent, n, most)
	}
}
