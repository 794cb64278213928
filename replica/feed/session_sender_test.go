package feed

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/internal/frame"
)

// askedLine is a line of an engine of its own, whose member is played: by one function for
// each connection that is made.
func askedLine(t *testing.T, member ...func(r *bufio.Reader, conn net.Conn)) *sessionSender {
	return askedLineBy(t, func(hub *Feed) (net.Conn, error) {
		if len(member) == 0 {
			return nil, net.ErrClosed
		}
		here, there := net.Pipe()
		play := member[0]
		member = member[1:]
		hub.done.Go(func() {
			defer func() { _ = there.Close() }()
			r := bufio.NewReader(there)
			if _, _, _, err := frame.Read(r, nil); err == nil { // the greeting
				play(r, there)
			}
		})
		return here, nil
	})
}

// askedLineBy is askedLine with connections of any kind.
func askedLineBy(t *testing.T, dial func(*Feed) (net.Conn, error)) *sessionSender {
	ctx, cancel := context.WithCancel(t.Context())
	var hub *Feed
	hub = New(ctx, Config{
		Self: "n1", Incarnation: 1, Patience: time.Second, Logger: slog.New(slog.DiscardHandler),
		Dial: func(context.Context, string) (net.Conn, error) { return dial(hub) },
	})
	t.Cleanup(func() {
		cancel()
		hub.done.Wait()
	})
	f := &hub.primary
	f.transitionMu.Lock()
	defer f.transitionMu.Unlock()
	f.mu.Lock()
	fl := f.newSender(f.state.beginSession("n2", 1))
	f.mu.Unlock()
	f.startSenders()
	return fl
}

// An answer that a broken connection took along is asked for again: the question itself
// has arrived, so it is not among what is sent anew.
func TestQuestionIsRepeatedWhenAnswerIsLost(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		text, err := json.Marshal(&report{Origins: []originReport{{Last: 7, Rows: []bool{true}}}})
		if err != nil {
			t.Fatal(err)
		}
		fl := askedLine(t, func(r *bufio.Reader, conn net.Conn) {
			_, _ = conn.Write(frame.Append(nil, frame.Ready, frame.Sequence(0)))
			_, _, _, _ = frame.Read(r, nil) // the question, which is taken in
		}, func(r *bufio.Reader, conn net.Conn) {
			_, _ = conn.Write(frame.Append(nil, frame.Ready, frame.Sequence(1)))
			_, payload, _, err := frame.Read(r, nil)
			if err != nil {
				return
			}
			k, _, _ := frame.CutSequence(payload)
			_, _ = conn.Write(frame.Append(frame.Append(nil, kindAnswer, frame.Sequence(k), text), frame.Ack, frame.Sequence(k)))
			_, _, _, _ = frame.Read(r, nil)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		answered, err := fl.askBackup(ctx, &question{Origins: []origin{{Node: "n3", Incarnation: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		if answered.Origins[0].Last != 7 {
			t.Errorf("%+v", answered)
		}
	})
}
