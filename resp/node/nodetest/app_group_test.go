package nodetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// A streamer has a stream with one group, and does one thing wrong now and then.
type streamer struct {
	entries []string
	next    int // the first that has not been delivered
	pending []string
	rnd     *rand.Rand
	fails   float64
	wrong   string
	count   int
	stop    chan struct{}
}

func (s *streamer) does(wrong string) bool { return s.wrong == wrong && s.rnd.IntN(20) == 0 }

func (s *streamer) do(_ context.Context, args ...string) (string, error) {
	if s.count++; s.count == 3000 {
		close(s.stop)
	}
	fails := s.rnd.Float64() < s.fails
	if fails && s.rnd.IntN(2) == 0 {
		return "", errors.New("not done")
	}
	reply := s.run(args)
	if fails {
		return "", errors.New("no answer")
	}
	return reply, nil
}

func (s *streamer) run(args []string) string {
	switch args[0] {
	case "XADD":
		if !s.does("loses an entry") {
			s.entries = append(s.entries, args[2])
		}
		return args[2]
	case "XACK":
		n := 0
		for _, id := range args[3:] {
			for i, p := range s.pending {
				if p == id && !s.does("keeps what was acknowledged") {
					s.pending = append(s.pending[:i:i], s.pending[i+1:]...)
					break
				}
			}
			n++
		}
		return fmt.Sprint(n)
	case "XREADGROUP":
		ids := s.pending[:min(len(s.pending), 10)]
		if args[len(args)-1] == ">" {
			if s.next > 0 && s.does("delivers twice") {
				s.next--
			}
			ids = s.entries[s.next:min(len(s.entries), s.next+10)]
			s.next += len(ids)
			if !s.does("forgets what is pending") {
				s.pending = append(s.pending, ids...)
			}
		}
		if len(ids) == 0 {
			return ""
		}
		reply := "key"
		for _, id := range ids {
			reply += "," + id + ",f,v"
		}
		return reply
	}
	return "OK"
}

// A group is found right as it is, whatever fails, and wrong if entries are lost, come
// twice, or come back.
func TestGroupFindsWrongReplies(t *testing.T) { fakenet.Bubble(t, groupFindsWhatIsWrong) }

func groupFindsWhatIsWrong(t *testing.T) {
	for wrong, says := range map[string]string{
		"": "", "loses an entry": "have never come", "delivers twice": "comes as a new one", "keeps what was acknowledged": "comes back after",
	} {
		s := &streamer{rnd: rand.New(rand.NewPCG(1, 2)), fails: 0.01, wrong: wrong, stop: make(chan struct{})}
		g := &AppGroup{Key: "g"}
		g.Run(s.do, s.stop)
		s.fails, s.wrong = 0, ""
		err := g.Check(s.do)
		if says == "" && (err != nil || g.Done < 500 || g.Failed == 0) || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v after %d commands and %d failures", wrong, err, g.Done, g.Failed)
		}
	}
	// What was delivered in a reply that was lost has to be among what is pending.
	s := &streamer{rnd: rand.New(rand.NewPCG(1, 2)), fails: 0.2, wrong: "forgets what is pending", stop: make(chan struct{})}
	g := &AppGroup{Key: "g"}
	g.Run(s.do, s.stop)
	s.fails, s.wrong = 0, ""
	if err := g.Check(s.do); err == nil {
		t.Error("entries that nobody has seen are not missed")
	}
}
