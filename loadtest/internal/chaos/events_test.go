package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

const (
	// subscribers is how many clients listen to key events.
	subscribers = 3
	// silence is for how long a subscriber's connection may say nothing: longer than a fault.
	silence = 45 * time.Second
	// settling is how soon after the faults what is missing has to have been reported.
	settling = 15 * time.Second
)

// A listening is a client that writes keys and others that hear of it, each through one node
// until its connection is lost, then through another one.
type listening struct {
	c       *testCluster
	written *written
	writer  *roam
	writing sync.WaitGroup
	running sync.WaitGroup
	done    chan struct{} // closed when nothing is to be written any more
	stop    chan struct{} // closed when nobody needs to listen any more
	wrong   error         // the writer's
	quiet   time.Time     // since when nothing is written

	mu       sync.Mutex
	hearings []*hearing
	conns    map[net.Conn]bool
}

// listen begins a round's. What is written is named after it.
func (c *testCluster) listen(number int) *listening {
	l := &listening{
		c: c, written: &written{name: fmt.Sprint("events", number)}, writer: &roam{c: c},
		done: make(chan struct{}), stop: make(chan struct{}), conns: map[net.Conn]bool{},
	}
	l.writing.Go(l.write)
	for i := range subscribers {
		l.running.Go(func() { l.subscriber(i) })
	}
	return l
}

// write sets and removes keys until done is closed. A write that was refused may not be told
// of, and nor may one whose outcome is not known.
func (l *listening) write() {
	for n := 0; ; n += 2 {
		select {
		case <-l.done:
			return
		case <-time.After(5 * time.Millisecond):
		}
		l.written.begin(n)
		if _, err := l.one("SET", l.written.key(n), "v"); err != nil {
			continue
		}
		l.written.acknowledged(n)
		l.written.begin(n + 1)
		switch reply, err := l.one("DEL", l.written.key(n)); {
		case err != nil:
		case reply != "1":
			l.wrong = fmt.Errorf("%s was set, and DEL answers %s", l.written.key(n), reply)
			return
		default:
			l.written.acknowledged(n + 1)
		}
	}
}

func (l *listening) one(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	return l.writer.do(ctx, args...)
}

// subscriber listens until stop is closed.
func (l *listening) subscriber(next int) {
	for ; ; next++ {
		nodes := l.c.members()
		if err := l.hear(nodes[next%len(nodes)]); errors.Is(err, errOver) {
			return
		}
		select {
		case <-l.stop:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// hear listens through a node until the connection is lost.
func (l *listening) hear(n *node) error {
	conn, err := n.dial(l.c)(context.Background())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if !l.keep(conn) {
		return errOver
	}
	defer l.forget(conn)
	if err := conn.SetDeadline(time.Now().Add(15 * time.Second)); err != nil {
		return err
	}
	// What one node is told to tell, all tell.
	channels := []string{"__keyevent@0__:set", "__keyevent@0__:del", "__keyevent@0__:gap"}
	if _, err := conn.Write(wire.AppendRequest(nil, "CONFIG", "SET", "notify-keyspace-events", "E$g")); err != nil {
		return err
	}
	if _, err := conn.Write(wire.AppendRequest(nil, append([]string{"SUBSCRIBE"}, channels...)...)); err != nil {
		return err
	}
	replies := wire.NewReplyReader(conn)
	for range 1 + len(channels) {
		if _, err := readMessage(replies); err != nil {
			return err
		}
	}
	h := &hearing{through: n.id, since: l.written.begun(), times: map[string]int{}}
	l.mu.Lock()
	l.hearings = append(l.hearings, h)
	l.mu.Unlock()
	var pings sync.WaitGroup
	over := make(chan struct{})
	defer pings.Wait()
	defer close(over)
	pings.Go(func() { ping(conn, over) })
	for {
		if err := conn.SetReadDeadline(time.Now().Add(silence)); err != nil {
			h.lose()
			return err
		}
		words, err := readMessage(replies)
		if err != nil {
			select {
			case <-l.stop:
				return errOver
			default:
			}
			h.lose()
			return err
		}
		h.alive()
		if len(words) == 3 && string(words[0]) == "message" {
			h.told(string(words[1]), string(words[2]), l.written)
		}
	}
}

// readMessage reads a message of a channel, or the reply to a command, whose error is an error.
func readMessage(r *wire.ReplyReader) ([][]byte, error) {
	reply, err := r.Read()
	if err != nil {
		return nil, err
	}
	_, err = reply.Joined()
	return reply.Values, err
}

// ping has the node say that it is there, so that a connection which is lost is seen.
func ping(conn net.Conn, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(time.Second):
		}
		if err := conn.SetWriteDeadline(time.Now().Add(silence)); err != nil {
			return
		}
		if _, err := conn.Write(wire.AppendRequest(nil, "PING")); err != nil {
			return
		}
	}
}

// keep has a connection closed at the end.
func (l *listening) keep(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.stop:
		return false
	default:
	}
	l.conns[conn] = true
	return true
}

func (l *listening) forget(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, conn)
}

// end has nothing written any more.
func (l *listening) end() {
	close(l.done)
	l.writer.close()
	l.writing.Wait()
	l.quiet = time.Now()
}

// check waits until what is missing has been reported, and everybody was heard from, at most
// for settling; then it judges and ends the listening.
func (l *listening) check() (verdict, error) {
	var v verdict
	var silent bool
	var err error
	for until := time.Now().Add(settling); ; time.Sleep(200 * time.Millisecond) {
		if v, silent, err = l.judge(); err == nil && !silent || time.Now().After(until) {
			break
		}
	}
	l.mu.Lock()
	close(l.stop)
	for conn := range l.conns {
		_ = conn.Close()
	}
	l.mu.Unlock()
	l.running.Wait()
	return v, errors.Join(err, l.wrong)
}

func (l *listening) judge() (all verdict, silent bool, err error) {
	l.mu.Lock()
	hearings := slices.Clone(l.hearings)
	l.mu.Unlock()
	var faults []error
	for _, h := range hearings {
		v, s, err := h.judge(l.written, l.quiet)
		all.add(v)
		silent = silent || s
		faults = append(faults, err)
	}
	return all, silent, errors.Join(faults...)
}
