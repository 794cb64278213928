package nodetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// A faulty server is a map that may fail, before or after it does what it is told, and
// may do wrong.
type faulty struct {
	mu    sync.Mutex
	data  map[string]string
	rnd   *rand.Rand
	fails float64
	wrong func(command string) bool
	count int
	after int
	done  func()
}

func (f *faulty) do(_ context.Context, args ...string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count++; f.count == f.after {
		f.done()
	}
	fails := f.rnd.Float64() < f.fails
	if fails && f.rnd.IntN(2) == 0 {
		return "", errors.New("not done")
	}
	if f.wrong != nil && f.wrong(args[0]) {
		if args[0] == "GET" {
			return "something", nil
		}
		return "OK", nil
	}
	key, reply := args[1], ""
	hash, list := hashOf(f.data[key]), listOf(f.data[key])
	setList := func(next []string) {
		if f.data[key] = strings.Join(next, ","); len(next) == 0 {
			delete(f.data, key)
		}
	}
	switch args[0] {
	case "RPUSH":
		setList(append(list, args[2]))
		reply = fmt.Sprint(len(list) + 1)
	case "LPUSH":
		setList(append([]string{args[2]}, list...))
		reply = fmt.Sprint(len(list) + 1)
	case "LPOP":
		reply = list[0]
		setList(list[1:])
	case "RPOP":
		reply = list[len(list)-1]
		setList(list[:len(list)-1])
	case "LINSERT":
		setList(slices.Insert(list, slices.Index(list, args[3]), args[4]))
		reply = fmt.Sprint(len(list) + 1)
	case "LTRIM":
		from := 0
		fmt.Sscan(args[2], &from)
		setList(list[from : len(list)-1])
		reply = "OK"
	case "LREM":
		i := slices.Index(list, args[3])
		setList(slices.Delete(list, i, i+1))
		reply = "1"
	case "LINDEX":
		i := 0
		if fmt.Sscan(args[2], &i); len(list) > 0 {
			reply = list[len(list)+i]
		}
	case "LRANGE":
		reply = f.data[key]
	case "ZADD", "ZINCRBY", "ZREM", "ZPOPMIN", "ZREMRANGEBYRANK", "ZRANK", "ZSCORE", "ZCOUNT", "ZRANGE":
		reply = f.zset(key, args)
	case "XADD":
		id, value := args[len(args)-3], args[len(args)-1]
		if list = append(list, id, value); args[2] == "MAXLEN" {
			most := 0
			fmt.Sscan(args[3], &most)
			list = list[max(0, len(list)-2*most):]
		}
		setList(list)
		reply = id
	case "XDEL":
		i := slices.Index(list, args[2])
		setList(slices.Delete(list, i, i+2))
		reply = "1"
	case "XTRIM":
		i := slices.Index(list, args[3])
		setList(list[i:])
		reply = fmt.Sprint(i / 2)
	case "XLEN":
		reply = fmt.Sprint(len(list) / 2)
	case "XRANGE":
		var words []string
		for i := 0; i+1 < len(list); i += 2 {
			words = append(words, list[i], "f", list[i+1])
		}
		reply = strings.Join(words, ",")
	case "HGET":
		reply = hash[args[2]]
	case "HLEN":
		reply = fmt.Sprint(len(hash))
	case "HGETALL":
		for field, value := range hash {
			reply += "," + field + "," + value
		}
		reply = strings.TrimPrefix(reply, ",")
	case "HSET":
		before := len(hash)
		hash[args[2]] = args[3]
		f.data[key], reply = stateOf(hash), fmt.Sprint(len(hash)-before)
	case "HDEL":
		before := len(hash)
		delete(hash, args[2])
		f.data[key], reply = stateOf(hash), fmt.Sprint(before-len(hash))
		if len(hash) == 0 {
			delete(f.data, key)
		}
	case "GET":
		reply = f.data[key]
	case "STRLEN":
		reply = fmt.Sprint(len(f.data[key]))
	case "MGET":
		reply = f.data[key] + "," + f.data[args[2]]
	case "SET":
		f.data[key], reply = args[2], "OK"
	case "APPEND":
		f.data[key] += args[2]
		reply = fmt.Sprint(len(f.data[key]))
	case "DEL":
		reply = "0"
		if f.data[key] != "" {
			reply = "1"
		}
		delete(f.data, key)
	}
	if fails {
		return "", errors.New("perhaps done")
	}
	return reply, nil
}

// zset does what a command does to a sorted set, which exists if it must.
func (f *faulty) zset(key string, args []string) string {
	all := zsetOf(f.data[key])
	at := -1
	if len(args) > 2 {
		at = slices.IndexFunc(all, func(s scored) bool { return s.member == args[len(args)-1] })
	}
	number := 0
	if len(args) > 2 {
		fmt.Sscan(args[2], &number)
	}
	set := func(next []scored) {
		if f.data[key] = stateOfZSet(next); len(next) == 0 {
			delete(f.data, key)
		}
	}
	switch args[0] {
	case "ZADD", "ZINCRBY":
		reply := "0"
		if at < 0 {
			reply = "1"
			all, at = append(all, scored{member: args[3]}), len(all)
		}
		if args[0] == "ZADD" {
			all[at].score = number
		} else {
			all[at].score += number
			reply = fmt.Sprint(all[at].score)
		}
		set(all)
		return reply
	case "ZREM":
		set(slices.Delete(all, at, at+1))
		return "1"
	case "ZPOPMIN":
		reply := all[0].String()
		set(all[1:])
		return reply
	case "ZREMRANGEBYRANK":
		reply := fmt.Sprint(len(all) / 2)
		set(all[len(all)/2:])
		return reply
	case "ZRANK":
		return fmt.Sprint(at)
	case "ZSCORE":
		return fmt.Sprint(all[at].score)
	case "ZCOUNT":
		return fmt.Sprint(len(slices.DeleteFunc(all, func(s scored) bool { return s.score < number })))
	}
	return f.data[key]
}

// run runs a worker for some commands.
func run(t *testing.T, f *faulty, tolerant bool) *AppWorker {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	f.data, f.rnd, f.after = map[string]string{}, rand.New(rand.NewPCG(seed, 1)), 2000
	w := NewAppWorker("w", seed)
	fakenet.Bubble(t, func(*testing.T) { // its pauses take no time
		stop := make(chan struct{})
		f.done = func() { close(stop) }
		w.Run(f.do, stop, tolerant)
	})
	f.fails, f.wrong = 0, nil
	return w
}

func TestRightAnswersAreRight(t *testing.T) {
	f := &faulty{}
	w := run(t, f, false)
	if w.Wrong != nil || w.Done != 2000 || w.Failed != 0 {
		t.Errorf("%d done, %d failed, %v", w.Done, w.Failed, w.Wrong)
	}
	if err := w.Check(f.do); err != nil {
		t.Error(err)
	}
	if least, greatest := w.Keys(); least != len(f.data) || greatest != least {
		t.Errorf("%d to %d keys, there are %d", least, greatest, len(f.data))
	}
}

func TestUnknownOutcomesAreNoFaults(t *testing.T) {
	f := &faulty{fails: 0.2}
	w := run(t, f, true)
	if w.Wrong != nil || w.Failed == 0 {
		t.Errorf("%d failed, %v", w.Failed, w.Wrong)
	}
	if err := w.Check(f.do); err != nil {
		t.Error(err)
	}
	if least, greatest := w.Keys(); least > len(f.data) || greatest < len(f.data) {
		t.Errorf("%d to %d keys, there are %d", least, greatest, len(f.data))
	}
}

func TestFaultsAreFound(t *testing.T) {
	if w := run(t, &faulty{fails: 0.01}, false); w.Wrong == nil {
		t.Error("an error is not expected")
	}
	for _, command := range []string{"GET", "SET", "APPEND", "HSET", "HGETALL", "RPUSH", "LRANGE", "ZADD", "ZRANGE", "XADD", "XRANGE"} {
		n := 0
		f := &faulty{wrong: func(c string) bool {
			if c == command {
				n++
			}
			// From then on they are not done, or answered at random. The rarest come some 28 times.
			return c == command && n >= 4
		}}
		w := run(t, f, true)
		if w.Wrong == nil {
			t.Errorf("a wrong %s is not noticed", command)
		}
	}
	f := &faulty{}
	w := run(t, f, false)
	for key := range f.data {
		f.data[key] = "lost"
	}
	if err := w.Check(f.do); err == nil || !strings.Contains(err.Error(), "and so on") {
		t.Errorf("all is lost: %v", err)
	}
}
