package resp

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/ring"
)

// A partFate is what a test makes of a part that a node is sent.
type partFate int

const (
	partMade       partFate = iota
	partRefused             // the node answers with an error, and nothing is done
	partLostBefore          // the connection breaks before the node executes the part
	partLostAfter           // the node executes the part, and its answer is lost
	partMoved               // the node says once that it has not executed the part
)

var partFates = map[partFate]string{
	partMade: "made", partRefused: "refused", partLostBefore: "lost before", partLostAfter: "lost after", partMoved: "moved",
}

const msgTestRefusal = "NOREPLICAS for the test"

// A partLink leads to a node where parts have a certain fate: the first one, or each one.
type partLink struct {
	Link
	fate partFate
	once bool
	from int32        // how many requests are answered before that
	sent atomic.Int32 // parts that it was given
	ran  atomic.Int32 // parts that the node has executed
}

func (l *partLink) Way() Way { return &partWay{Way: l.Link.Way(), link: l} }

type partWay struct {
	Way
	link *partLink
	fate partFate
}

func (w *partWay) Send(batch []byte, n int, terms Terms, timeout time.Duration, arrived func()) error {
	w.fate = w.link.fate
	nth := w.link.sent.Add(1) - w.link.from
	if nth < 1 || nth > 1 && (w.link.once || w.fate == partMoved) {
		w.fate = partMade
	}
	if w.fate == partMade || w.fate == partLostAfter {
		w.link.ran.Add(1)
		return w.Way.Send(batch, n, terms, timeout, arrived)
	}
	if arrived != nil {
		arrived()
	}
	return nil
}

func (w *partWay) Wait() (Replies, error) {
	switch w.fate {
	case partRefused:
		reply := []byte("-" + msgTestRefusal + "\r\n")
		return Replies{Bytes: reply, Ends: []int{len(reply)}}, nil
	case partMoved:
		reply := []byte("-x\r\n")
		return Replies{Bytes: reply, Ends: []int{len(reply)}, Statuses: []Status{StatusNotRun}}, nil
	case partLostBefore:
		return Replies{}, ErrUnknownOutcome
	case partLostAfter:
		if _, err := w.Way.Wait(); err != nil {
			return Replies{}, err
		}
		return Replies{}, ErrUnknownOutcome
	}
	return w.Way.Wait()
}

// spreadTest has two nodes with half of the circle each behind a first one without ranges.
func spreadTest(t *testing.T) (r *routed, keys [2]string, links [2]*partLink) {
	r = routedTest(t, 3)
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n1"},
		{Range: ring.Range{Start: 1 << 31}, Primary: "n2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range links {
		id := fmt.Sprint("n", i+1)
		route := r.links[id]
		links[i] = &partLink{Link: route.Link}
		route.Link = links[i]
		r.links[id] = route
	}
	r.placeAll(p)
	for i := 0; keys[0] == "" || keys[1] == ""; i++ {
		key := fmt.Sprint("k", i)
		keys[r.token([]byte(key))>>31] = key
	}
	return r, keys, links
}

// A spreadCommand is a command that two nodes do a part of.
type spreadCommand struct {
	words []string
	write bool
}

// What the client is told of a command that two nodes do a part of is the worst of both
// parts, in whatever order they are heard of, and no part is executed twice.
func TestOutcomeOfSpreadCommandIsThatOfItsWorstPart(t *testing.T) {
	randomtest.DrawShort(t, 4)
	r, keys, links := spreadTest(t)
	o := resptest.Dial(t, r.addrs[0], 2)
	a, b := keys[0], keys[1]
	commands := []spreadCommand{
		{[]string{"DEL", a, b}, true},
		{[]string{"DEL", b, a}, true},
		{[]string{"UNLINK", a, b}, true},
		{[]string{"MSET", a, "new", b, "new"}, true},
		{[]string{"FLUSHALL"}, true},
		{[]string{"FLUSHDB"}, true},
		{[]string{"SCRIPT", "FLUSH"}, true},
		{[]string{"MGET", b, a}, false},
		{[]string{"EXISTS", a, b}, false},
		{[]string{"TOUCH", a, b}, false},
		{[]string{"DBSIZE"}, false},
		{[]string{"KEYS", "*"}, false},
		{[]string{"RANDOMKEY"}, false},
	}
	for name, row := range newCommandTable().ByName {
		split := (row.Spread || row.Merge != command.MergeNone) && row.MayWrite
		if split && !slices.ContainsFunc(commands, func(c spreadCommand) bool { return strings.ToLower(c.words[0]) == name }) {
			t.Errorf("%s is split over nodes and writes: add it to this test", name)
		}
	}
	unknown := func(f partFate) bool { return f == partLostBefore || f == partLostAfter }
	made := func(f partFate) bool { return f == partMade }
	for _, command := range commands {
		script := command.words[0] == "SCRIPT"
		for first := range partFates {
			for second := range partFates {
				if !command.write && first != partMade && second != partMade {
					continue // a read is sent again whatever became of it
				}
				for i, f := range []partFate{first, second} {
					*links[i] = partLink{Link: links[i].Link, fate: partMade}
					links[i].once = !command.write // else a read is repeated until time is over
					o.Want("+OK", "SET", keys[i], "old")
					links[i].sent.Store(0)
					links[i].ran.Store(0)
					links[i].fate = f
				}
				got := o.Do(command.words...)
				name := fmt.Sprintf("%v, %s and %s: %s", command.words, partFates[first], partFates[second], got)
				isError := got.Kind == '-'
				refused := first == partRefused || second == partRefused
				want := ""
				switch {
				case !command.write && refused:
					want = msgTestRefusal
				case !command.write:
				case unknown(first) || unknown(second):
					want = "UNKNOWN "
				case script && (refused || first == partMoved || second == partMoved):
					want = "UNKNOWN " // this node has done its part
				case refused && (made(first) || made(second)):
					want = "UNKNOWN A part "
				case refused:
					want = msgTestRefusal
				}
				if isError != (want != "") || !strings.HasPrefix(got.Text, want) {
					t.Errorf("%s; want %q", name, want)
				}
				if want == "UNKNOWN " && refused && strings.HasPrefix(got.Text, msgTestRefusal) {
					t.Errorf("%s: a refusal hides what is unknown", name)
				}
				if !command.write {
					continue
				}
				for i := range links {
					if n := links[i].ran.Load(); n > 1 {
						t.Errorf("%s: node %d has executed its part %d times", name, i+1, n)
					}
				}
			}
		}
	}
}

// FLUSHDB works in steps where another database holds keys: parts of nodes, scans, keys. If it is refused,
// whatever the step, no key was removed.
func TestRefusedFlushDBHasRemovedNothing(t *testing.T) {
	randomtest.DrawShort(t, 4)
	r, keys, links := spreadTest(t)
	o := resptest.Dial(t, r.addrs[0], 2)
	const steps = 4
	reached := map[string]int{}
	for others := 1; others < 4; others++ { // the nodes where database 1 holds a key
		for at := range links {
			for step := range steps {
				for _, f := range []partFate{partRefused, partLostBefore, partLostAfter, partMoved} {
					for i := range links {
						*links[i] = partLink{Link: links[i].Link}
					}
					o.Want("+OK", "FLUSHALL")
					o.Want("+OK", "SELECT", "1")
					for i, key := range keys {
						if others>>i&1 == 1 {
							o.Want("+OK", "SET", key, "other")
						}
					}
					o.Want("+OK", "SELECT", "0")
					o.Want("+OK", "MSET", keys[0], "x", keys[1], "x")
					links[at].from = links[at].sent.Load() + int32(step)
					links[at].fate = f
					got := o.Do("FLUSHDB")
					links[at].fate = partMade
					left := o.Do("EXISTS", keys[0], keys[1]).Text
					name := fmt.Sprintf("others at %b, request %d of node %d %s: %s", others, step, at+1, partFates[f], got)
					switch {
					case got.Kind != '-':
						reached["done"]++
						if left != "0" {
							t.Errorf("%s: %s of 2 keys are left", name, left)
						}
					case strings.HasPrefix(got.Text, "UNKNOWN "):
						reached["unknown"]++
					default:
						reached["refused"]++
						if left != "2" {
							t.Errorf("%s: %s of 2 keys are left", name, left)
						}
					}
					o.Want("+OK", "SELECT", "1")
					if n := fmt.Sprint(others&1 + others>>1); o.Do("EXISTS", keys[0], keys[1]).Text != n {
						t.Errorf("%s: database 1 has lost a key", name)
					}
					o.Want("+OK", "SELECT", "0")
				}
			}
		}
	}
	if reached["done"] == 0 || reached["unknown"] == 0 || reached["refused"] == 0 {
		t.Errorf("outcomes: %v", reached)
	}
}
