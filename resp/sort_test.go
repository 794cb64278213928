package resp

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// Patterns name keys that may be another node's: they are refused unless a hash tag says
// otherwise, or there is no other node.
func TestSortByKeysOfSeveralNodes(t *testing.T) {
	r, keys := halves(t)
	for _, addr := range r.addrs {
		for _, key := range keys {
			o := dialRedis(t, addr, 2)
			o.do("DEL", key)
			o.do("RPUSH", key, "2", "1")
			tag := "{" + key + "}"
			o.do("SET", tag+"w_1", "20")
			o.do("SET", tag+"w_2", "10")
			o.want("*($1 $2)", "SORT", key)
			o.want("*($2 $1)", "SORT", key, "BY", "nosort", "GET", "#")
			o.want("*($2 $1)", "SORT_RO", key, "BY", tag+"w_*")
			o.want("*($10 $20)", "SORT", key, "BY", tag+"w_*", "GET", tag+"w_*")
			o.want(":2", "SORT", key, "BY", tag+"w_*", "GET", tag+"w_*", "STORE", tag+"out")
			o.want("*($10 $20)", "LRANGE", tag+"out", "0", "-1")
			for _, pattern := range []string{"w_*", "{*}" + key, "{" + key + "*}", "{}" + tag + "*", "*" + tag, "{other}*"} {
				o.want("-ERR BY option of SORT denied in cluster mode.", "SORT", key, "BY", pattern)
				o.want("-ERR GET option of SORT denied in cluster mode.", "SORT_RO", key, "GET", "#", "GET", pattern)
			}
		}
	}
}

func TestSortUnderStrictSlots(t *testing.T) {
	srv, addr := serveTest(t, nil)
	srv.settings.StrictSlots.Store(true)
	o := dialRedis(t, addr, 2)
	o.do("RPUSH", "l", "1")
	o.want("-ERR BY option of SORT denied in cluster mode.", "SORT", "l", "BY", "w_*")
	o.want("*($1)", "SORT", "l", "BY", "{l}w_*", "GET", "#")
}

// Sorts that reach for keys everywhere, and commands that hold the latches of some, do not
// wait for one another for ever, and what is stored is of one moment, as is what a script or a
// transaction sees.
func TestSortsReachForKeysThatOthersHold(t *testing.T) {
	if testing.Short() {
		t.Skip("one connection at a time")
	}
	_, addr := serveTest(t, nil)
	o := dialRedis(t, addr, 2)
	const n = 40
	push, zero := []string{"RPUSH", "ids"}, []string{"MSET"}
	for i := range n {
		push = append(push, fmt.Sprint(i))
		zero = append(zero, fmt.Sprint("w_", i), "0")
		o.do("HSET", fmt.Sprint("h_", i), "f", fmt.Sprint(i))
	}
	o.do(push...)
	o.do(zero...)
	stop := make(chan struct{})
	var writers, sorters sync.WaitGroup
	for range 2 {
		w := dialRedis(t, addr, 2)
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
				w.do(set...)
			}
		})
	}
	for i := range 3 {
		s := dialRedis(t, addr, 2)
		sorters.Go(func() {
			out := fmt.Sprint("out", i)
			for range 30 {
				s.do("SORT", "ids", "BY", "w_*", "GET", "w_*", "STORE", out)
				got := s.do("LRANGE", out, "0", "-1")
				for _, e := range got.elems {
					if len(got.elems) != n || e.text != got.elems[0].text {
						t.Errorf("half of a write is sorted: %v", got)
						return
					}
				}
				if got := s.do("SORT", "ids", "BY", "w_*", "GET", "h_*->f"); len(got.elems) != n {
					t.Errorf("%d elements: %v", len(got.elems), got)
				}
				script := s.do("EVAL", "redis.call('SET', KEYS[2], 1) return redis.call('SORT', KEYS[1], 'GET', 'w_*')", "2", "ids", out+"2")
				s.do("MULTI")
				s.do("SET", out+"2", "1")
				s.do("SORT", "ids", "BY", "w_*", "GET", "w_*")
				exec := s.do("EXEC")
				for _, got := range []respValue{script, exec.elems[1]} {
					for _, e := range got.elems {
						if len(got.elems) != n || e.text != got.elems[0].text {
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
	case <-time.After(patience):
		t.Fatal("they wait for one another")
	}
}

// What a sort takes is bounded by what a client may be sent: LIMIT has it keep no more than
// is asked for.
func TestSortIsBounded(t *testing.T) {
	srv, addr := serveTest(t, nil)
	srv.settings.OutputBuffer.Store(256 << 10)
	o := dialRedis(t, addr, 2)
	push := []string{"RPUSH", "l"}
	for i := range 20_000 {
		push = append(push, fmt.Sprint(20_000-i))
	}
	o.do(push...)
	const refusal = "-" + sortMemoryText
	o.want(refusal, "SORT", "l")
	o.want(refusal, "SORT", "l", "STORE", "out")
	o.want("*($1 $2 $3)", "SORT", "l", "LIMIT", "0", "3")
	o.want("*($19998 $19997)", "SORT", "l", "DESC", "LIMIT", "2", "2")
	o.want(":2", "SORT", "l", "DESC", "LIMIT", "2", "2", "STORE", "out")
	o.want("*($19990 $19989)", "SORT", "l", "BY", "nosort", "LIMIT", "10", "2")
	o.want(refusal, "SORT", "l", "BY", "a_key_that_takes_room_*", "LIMIT", "0", "3")
	for i := range 20 {
		o.do("SET", fmt.Sprint("v_", i), noise(20_000))
	}
	o.want(refusal, "SORT", "l", "GET", "v_*", "LIMIT", "0", "20")
	if got := o.do("SORT", "l", "GET", "v_*", "LIMIT", "0", "3"); len(got.elems) != 3 {
		t.Error(got)
	}
	o.want(":20000", "LLEN", "l")
}

// sortMemoryText is the error for a SORT that takes more memory than a client may have replies.
const sortMemoryText = "ERR SORT needs more memory here than a client's output buffer may have; LIMIT lessens it"
