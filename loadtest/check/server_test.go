package check

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

// A server is a linearizable one, in a time of its own, whose clock may be wrong by up to
// skew when it comes to expiry.
type server struct {
	now    time.Duration
	skew   time.Duration
	rnd    *rand.Rand
	values map[int64]entry
}

type entry struct {
	value []byte
	gone  time.Duration // forever if it stays
}

func (s *server) get(key int64) []byte {
	e, ok := s.values[key]
	if !ok || e.gone <= s.now {
		delete(s.values, key)
		return nil
	}
	return e.value
}

// do executes a command.
func (s *server) do(kind Kind, op *workload.Op) Answer {
	a := Answer{}
	switch kind {
	case Get:
		for _, key := range op.Keys {
			a.Values = append(a.Values, s.get(key))
		}
	case Set, Zero:
		for i, key := range op.Keys {
			e := entry{value: op.Args[2*i+2], gone: forever}
			if len(op.Keys) == 1 && len(op.Args) == 5 {
				ms, _ := strconv.Atoi(string(op.Args[4]))
				e.gone = s.now + time.Duration(ms)*time.Millisecond + time.Duration(s.rnd.Int64N(int64(2*s.skew)+1)) - s.skew
			}
			s.values[key] = e
		}
	case GetSet:
		a.Values = [][]byte{s.get(op.Keys[0])}
		s.values[op.Keys[0]] = entry{op.Args[2], forever}
	case SetNX:
		if s.get(op.Keys[0]) == nil {
			s.values[op.Keys[0]] = entry{op.Args[2], forever}
			a.Integer = 1
		}
	case Delete:
		for _, key := range op.Keys {
			if s.get(key) != nil {
				a.Integer++
			}
			delete(s.values, key)
		}
	case Exists:
		for _, key := range op.Keys {
			if s.get(key) != nil {
				a.Integer++
			}
		}
	case Incr:
		e, ok := s.values[op.Keys[0]]
		if v := s.get(op.Keys[0]); v == nil {
			e, ok = entry{gone: forever}, false
		}
		n, err := 0, error(nil)
		if ok {
			n, err = strconv.Atoi(string(e.value))
		}
		if err != nil {
			a.Outcome = result.Refused
			return a
		}
		e.value = []byte(strconv.Itoa(n + 1))
		s.values[op.Keys[0]] = e
		a.Integer = int64(n + 1)
	}
	return a
}

// An asker is one client of the server, with one command after the other.
type asker struct {
	c      *Client
	source *workload.Client
	kind   Kind
	op     *workload.Op
	answer *Answer // nil: not executed yet
	busy   bool
}

// A limbo is a command whose client has given up, and which may still arrive.
type limbo struct {
	kind Kind
	op   *workload.Op
}

// copied is good for longer than the client's next.
func copied(op *workload.Op) *workload.Op {
	c := *op
	c.Keys = append([]int64(nil), op.Keys...)
	c.Args = nil
	for _, a := range op.Args {
		c.Args = append(c.Args, append([]byte(nil), a...))
	}
	return &c
}

// A history is clients of a server, and a model that hears of it.
type history struct {
	t      *testing.T
	rnd    *rand.Rand
	server *server
	model  *Model
	cfg    workload.Config
	askers []*asker
	limbo  []limbo
	faulty bool // outcomes get unknown, and commands are refused
}

const slack = 20 * time.Millisecond

func newHistory(t *testing.T, seed uint64, mix, ttl string, clients int, keys int64, fresh bool) *history {
	t.Helper()
	h := &history{t: t, rnd: rand.New(rand.NewPCG(seed, 99))}
	h.server = &server{rnd: h.rnd, skew: slack, values: map[int64]entry{}}
	m, err := workload.ParseMix(mix)
	if err != nil {
		t.Fatal(err)
	}
	lives, err := workload.ParseTTL(ttl)
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := workload.ParseSizes("51..60")
	if err != nil {
		t.Fatal(err)
	}
	h.cfg = workload.Config{Seed: seed, Clients: clients, Keys: keys, Mix: m, Sizes: sizes, TTL: lives, Stamped: true}
	h.model, err = NewModel(Config{Clients: clients + 1, Fresh: fresh, Slack: slack + time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for i := range clients {
		h.askers = append(h.askers, &asker{c: h.model.Client(i), source: h.cfg.Client(i)})
	}
	return h
}

// step lets one client, or a command that was given up, go on.
func (h *history) step() {
	h.server.now += time.Duration(h.rnd.IntN(2_000)) * time.Microsecond
	if n := len(h.limbo); n > 0 && h.rnd.IntN(50) == 0 {
		i := h.rnd.IntN(n)
		h.server.do(h.limbo[i].kind, h.limbo[i].op)
		h.limbo = append(h.limbo[:i], h.limbo[i+1:]...)
		return
	}
	a := h.askers[h.rnd.IntN(len(h.askers))]
	switch {
	case !a.busy:
		op := a.source.Next()
		a.kind, a.op = KindOf(&h.cfg.Mix.Commands[op.Command]), copied(op)
		a.c.Begin(a.kind, a.op, h.server.now)
		a.busy, a.answer = true, nil
	case h.faulty && h.rnd.IntN(12) == 0:
		outcome := result.Unknown
		if a.answer == nil {
			if h.rnd.IntN(2) == 0 && len(a.op.Keys) == 1 {
				outcome = result.Refused
			} else {
				h.limbo = append(h.limbo, limbo{a.kind, a.op})
			}
		}
		a.c.End(&Answer{Outcome: outcome}, h.server.now)
		a.busy = false
	case a.answer == nil:
		answer := h.server.do(a.kind, a.op)
		a.answer = &answer
	default:
		a.c.End(a.answer, h.server.now)
		a.busy = false
	}
}

// settle ends what is on its way.
func (h *history) settle() {
	for _, a := range h.askers {
		if !a.busy {
			continue
		}
		if a.answer == nil {
			answer := h.server.do(a.kind, a.op)
			a.answer = &answer
		}
		h.server.now += time.Millisecond
		a.c.End(a.answer, h.server.now)
		a.busy = false
	}
}

// read has a client read a key, which gets an answer.
func (h *history) read(key int64, value []byte) {
	c := h.model.Client(0)
	h.server.now += time.Millisecond
	c.Begin(Get, &workload.Op{Args: [][]byte{[]byte("GET"), nil}, Keys: []int64{key}}, h.server.now)
	h.server.now += time.Millisecond
	c.End(&Answer{Values: [][]byte{value}}, h.server.now)
}

func (h *history) found() [verdicts]int64 {
	c := h.model.Checked()
	return [verdicts]int64{lost: c.Lost, stale: c.Stale, corrupt: c.Corrupt}
}

func (h *history) expect(what string, want [verdicts]int64) {
	h.t.Helper()
	if got := h.found(); got != want {
		h.t.Errorf("%s: found %v, want %v: %q", what, fmt.Sprint(got), fmt.Sprint(want), h.model.Checked().Examples)
	}
}
