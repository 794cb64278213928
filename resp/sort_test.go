package resp

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// Patterns name keys that may be another node's: they are refused unless a hash tag says
// otherwise, or there is no other node.
func TestSortByKeysOfSeveralNodes(t *testing.T) {
	r, keys := halves(t)
	for _, addr := range r.addrs {
		for _, key := range keys {
			o := resptest.Dial(t, addr, 2)
			o.Do("DEL", key)
			o.Do("RPUSH", key, "2", "1")
			tag := "{" + key + "}"
			o.Do("SET", tag+"w_1", "20")
			o.Do("SET", tag+"w_2", "10")
			o.Want("*($1 $2)", "SORT", key)
			o.Want("*($2 $1)", "SORT", key, "BY", "nosort", "GET", "#")
			o.Want("*($2 $1)", "SORT_RO", key, "BY", tag+"w_*")
			o.Want("*($10 $20)", "SORT", key, "BY", tag+"w_*", "GET", tag+"w_*")
			o.Want(":2", "SORT", key, "BY", tag+"w_*", "GET", tag+"w_*", "STORE", tag+"out")
			o.Want("*($10 $20)", "LRANGE", tag+"out", "0", "-1")
			for _, pattern := range []string{"w_*", "{*}" + key, "{" + key + "*}", "{}" + tag + "*", "*" + tag, "{other}*"} {
				o.Want("-ERR BY option of SORT denied in Cluster mode when keys formed by the pattern may be in different slots.", "SORT", key, "BY", pattern)
				o.Want("-ERR GET option of SORT denied in Cluster mode when keys formed by the pattern may be in different slots.", "SORT_RO", key, "GET", "#", "GET", pattern)
			}
		}
	}
}

func TestSortUnderStrictSlots(t *testing.T) {
	srv, addr := serveTest(t, nil)
	srv.settings.StrictSlots.Store(true)
	o := resptest.Dial(t, addr, 2)
	o.Do("RPUSH", "l", "1")
	o.Want("-ERR BY option of SORT denied in Cluster mode when keys formed by the pattern may be in different slots.", "SORT", "l", "BY", "w_*")
	o.Want("*($1)", "SORT", "l", "BY", "{l}w_*", "GET", "#")
}

// Sorts that reach for keys everywhere, and commands that hold the latches of some, do not
// wait for one another for ever, and what is stored is of one moment, as is what a script or a
// transaction sees.
func TestSortsReachForKeysThatOthersHold(t *testing.T) {
	if testing.Short() {
		t.Skip("one connection at a time")
	}
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	const n = 40
	push, zero := []string{"RPUSH", "ids"}, []string{"MSET"}
	for i := range n {
		push = append(push, fmt.Sprint(i))
		zero = append(zero, fmt.Sprint("w_", i), "0")
		o.Do("HSET", fmt.Sprint("h_", i), "f", fmt.Sprint(i))
	}
	o.Do(push...)
	o.Do(zero...)
	stop := make(chan struct{})
	var writers, sorters sync.WaitGroup
	for range 2 {
		w := resptest.Dial(t, addr, 2)
		writers.Go(func() {
			for i := 1; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				set := []string{"MSET"}
				for j := range n {
					set = append(set, fmt.Sprint("w_", j), fmt.Sprint(i))
				}
				w.Do(set...)
			}
		})
	}
	for i := range 3 {
		s := resptest.Dial(t, addr, 2)
		sorters.Go(func() {
			out := fmt.Sprint("out", i)
			for range 30 {
				s.Do("SORT", "ids", "BY", "w_*", "GET", "w_*", "STORE", out)
				got := s.Do("LRANGE", out, "0", "-1")
				for _, e := range got.Elems {
					if len(got.Elems) != n || e.Text != got.Elems[0].Text {
						t.Errorf("half of a write is sorted: %v", got)
						return
					}
				}
				if got := s.Do("SORT", "ids", "BY", "w_*", "GET", "h_*->f"); len(got.Elems) != n {
					t.Errorf("%d elements: %v", len(got.Elems), got)
				}
				script := s.Do("EVAL", "redis.call('SET', KEYS[2], 1) return redis.call('SORT', KEYS[1], 'GET', 'w_*')", "2", "ids", out+"2")
				s.Do("MULTI")
				s.Do("SET", out+"2", "1")
				s.Do("SORT", "ids", "BY", "w_*", "GET", "w_*")
				exec := s.Do("EXEC")
				for _, got := range []resptest.Value{script, exec.Elems[1]} {
					for _, e := range got.Elems {
						if len(got.Elems) != n || e.Text != got.Elems[0].Text {
							t.Errorf("half of a write is seen: %v", got)
							return
						}
					}
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		sorters.Wait()
		close(stop)
		writers.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(resptest.Patience):
		t.Fatal("they wait for one another")
	}
}

// What a sort takes is bounded by what a client may be sent: LIMIT has it keep no more than
// is asked for.
func TestSortIsBounded(t *testing.T) {
	srv, addr := serveTest(t, nil)
	srv.settings.OutputBuffer.Store(256 << 10)
	o := resptest.Dial(t, addr, 2)
	push := []string{"RPUSH", "l"}
	for i := range 20_000 {
		push = append(push, fmt.Sprint(20_000-i))
	}
	o.Do(push...)
	const refusal = "-" + sortMemoryText
	o.Want(refusal, "SORT", "l")
	o.Want(refusal, "SORT", "l", "STORE", "out")
	o.Want("*($1 $2 $3)", "SORT", "l", "LIMIT", "0", "3")
	o.Want("*($19998 $19997)", "SORT", "l", "DESC", "LIMIT", "2", "2")
	o.Want(":2", "SORT", "l", "DESC", "LIMIT", "2", "2", "STORE", "out")
	o.Want("*($19990 $19989)", "SORT", "l", "BY", "nosort", "LIMIT", "10", "2")
	o.Want(refusal, "SORT", "l", "BY", "a_key_that_takes_room_*", "LIMIT", "0", "3")
	for i := range 20 {
		o.Do("SET", fmt.Sprint("v_", i), noise(20_000))
	}
	o.Want(refusal, "SORT", "l", "GET", "v_*", "LIMIT", "0", "20")
	if got := o.Do("SORT", "l", "GET", "v_*", "LIMIT", "0", "3"); len(got.Elems) != 3 {
		t.Error(got)
	}
	o.Want(":20000", "LLEN", "l")
}

// sortMemoryText is the error for a SORT that takes more memory than a client may have replies.
const sortMemoryText = "ERR SORT needs more memory here than a client's output buffer may have; LIMIT lessens it"
