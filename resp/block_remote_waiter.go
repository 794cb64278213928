package resp

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/budget"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// A remote waiter is a command that waits here for a client of another node.
//
//   - RING ENQUEUE, in front of the command, registers it if it is not served at once.
//   - RING AWAIT is answered when the wait ends, or after a while with "it waits".
//   - RING DEQUEUE withdraws it.
//
// So no request between nodes takes longer than others, and a waiter keeps its place in the queue
// when a connection between nodes breaks.
//
// A remote waiter is withdrawn if no RING AWAIT comes within remotePollGap. The reply to one that
// was served is kept for remoteResultKept, or until it is asked for.

const (
	// remotePollTime bounds how long RING AWAIT waits.
	remotePollTime   = 10 * time.Second
	remotePollGap    = time.Second
	remoteResultKept = 30 * time.Second
	// maxRemoteArgs bounds the arguments that the node keeps for a remote waiter, in bytes.
	maxRemoteArgs = 1 << 20
)

// Answers to RING AWAIT and RING DEQUEUE other than the command's reply. The status beside a reply
// decides; the text is for people. The run id of the node follows replyGone.
var (
	replyWaits = []byte("+WAITS\r\n")
	replyLeft  = []byte("+LEFT\r\n")
	replyGone  = []byte("+GONE ")
)

// A remoteWaiter is a waiter of another node. Its fields are guarded by blocked.mu.
type remoteWaiter struct {
	id     string
	w      *waiter
	answer func(Replies, error) // RING AWAIT's, if there is one
	timer  *time.Timer
	turn   int  // counts settings of the timer: an older one does nothing
	known  bool // remoteEnded has run
	budget *budget.Budget
	cost   int64 // bytes charged to the budget
}

// remoteWaiterCost is about what a remote waiter takes beside its arguments, in bytes.
const remoteWaiterCost = 1 << 10

// A remoteEnqueue holds the arguments of RING ENQUEUE.
type remoteEnqueue struct {
	id     string
	ticket uint64
	memo   []byte
}

// cmdRingEnqueue is RING ENQUEUE id ticket memo.
func cmdRingEnqueue(x *call) {
	ticket, err := strconv.ParseUint(string(x.Args[3]), 10, 64)
	memo, bad := hex.DecodeString(string(x.Args[4]))
	switch {
	case err != nil || bad != nil || len(x.Args[2]) == 0:
		x.Error(command.MsgSyntax)
	default:
		x.conn.from.enqueued = remoteEnqueue{id: string(x.Args[2]), ticket: ticket, memo: memo}
		x.OK()
	}
}

// registerRemote registers a remote waiter. It replies with its ticket, its time in ms, the run id
// of this node, and the memo.
func (f *forwardedConn) registerRemote(x *call, w *waiter) {
	s := x.srv
	if len(f.conn.in) > maxRemoteArgs {
		x.Error("ERR the arguments are too long for a command that waits for another node")
		return
	}
	w.ticket = f.enqueued.ticket
	w.run, w.turn = turnOf(f.enqueued.id)
	w.place(x)
	g := &remoteWaiter{id: f.enqueued.id, w: w, budget: &s.budget, cost: int64(len(f.conn.in)) + remoteWaiterCost}
	if !s.budget.Host(g.cost) {
		x.Error("ERR not enough memory for a command with such arguments to wait for another node")
		return
	}
	w.onEnd = func() { s.blocked.remoteEnded(g) }
	if !s.blocked.registerRemote(g) {
		f.group.refused = 0
		x.notRun()
		return
	}
	w.checkRoutes(s)
	x.says(StatusWaits)
	x.Simple(fmt.Sprintf("WAITS %d %d %s %x", w.ticket, w.Timeout.Milliseconds(), s.runID, w.Memo))
}

// turnOf reads the client's node and its number for the command from the id of a remote waiter. Those of earlier
// versions have no number.
func turnOf(id string) (run string, turn uint64) {
	words := strings.Split(id, "-")
	if len(words) == 4 {
		turn, _ = strconv.ParseUint(words[3], 10, 64)
	}
	return words[0], turn
}

// asksEnqueue reports whether a batch begins with RING ENQUEUE: its command may keep its arguments.
func asksEnqueue(batch []byte) bool { return bytes.HasPrefix(batch, enqueue) }

var enqueue = []byte("*5\r\n$4\r\nRING\r\n$7\r\nENQUEUE\r\n")

// registerRemote registers a remote waiter. It returns false if the server closes, or has one with
// the same id.
func (b *blocked) registerRemote(g *remoteWaiter) bool {
	b.mu.Lock()
	known := b.remote[g.id] != nil
	if !known && !b.full {
		b.remote[g.id] = g
		b.setRemoteTimer(g, remotePollGap)
	}
	if known {
		g.takes(-g.cost)
	}
	b.mu.Unlock()
	if known {
		return false
	}
	if b.register(g.w) {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropRemote(g)
	return false
}

// setRemoteTimer calls remoteTimedOut after d, instead of at the time set before. mu is held.
func (b *blocked) setRemoteTimer(g *remoteWaiter, d time.Duration) {
	if g.timer != nil {
		g.timer.Stop()
	}
	g.turn++
	turn := g.turn
	g.timer = time.AfterFunc(d, func() { b.remoteTimedOut(g, turn) })
}

// dropRemote forgets a remote waiter and its reply. mu is held.
func (b *blocked) dropRemote(g *remoteWaiter) {
	if g.timer != nil {
		g.timer.Stop()
	}
	g.turn++
	g.takes(-g.cost)
	if b.remote[g.id] == g {
		delete(b.remote, g.id)
	}
}

// takes charges n bytes more, or fewer if n is negative. blocked.mu is held.
func (g *remoteWaiter) takes(n int64) {
	g.cost += n
	g.budget.RemoteWaiters.Add(n)
}

// remoteTimedOut answers a RING AWAIT that waits with "it waits". Without one, it withdraws the
// remote waiter.
func (b *blocked) remoteTimedOut(g *remoteWaiter, turn int) {
	b.mu.Lock()
	if g.turn != turn {
		b.mu.Unlock()
		return
	}
	answer := g.answer
	switch {
	case g.w.state == waitClaimed && !g.known: // it is being served
		b.setRemoteTimer(g, remotePollGap)
		answer = nil
	case answer != nil:
		g.answer = nil
		b.setRemoteTimer(g, remotePollGap)
	default:
		b.take(g.w, waitOver)
		b.dropRemote(g)
	}
	b.mu.Unlock()
	if answer != nil {
		respond(answer, replyWaits, StatusWaits)
	}
}

// hasEnded reports whether the wait has ended.
func (w *waiter) hasEnded() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// remoteEnded answers the RING AWAIT that waits, or keeps the reply until it is asked for.
func (b *blocked) remoteEnded(g *remoteWaiter) {
	b.mu.Lock()
	answer := g.answer
	g.answer, g.known = nil, true
	if answer != nil {
		b.dropRemote(g)
	} else if b.remote[g.id] == g {
		g.takes(int64(cap(g.w.out.Buf)))
		b.setRemoteTimer(g, remoteResultKept)
	}
	b.mu.Unlock()
	if answer != nil {
		result, status := g.w.result()
		respond(answer, result, status)
	}
}

// result returns the reply of a wait that has ended.
func (w *waiter) result() ([]byte, Status) {
	switch w.how {
	case waitServed:
		return w.out.Buf, StatusRun
	case waitFailed:
		w.out.Buf = w.out.Buf[:0]
		w.out.Error(w.msg)
		return w.out.Buf, StatusRun
	}
	return replyLeft, StatusLeft
}

// respond answers a request with one reply.
func respond(answer func(Replies, error), reply []byte, status Status) {
	answer(Replies{Bytes: reply, Ends: []int{len(reply)}, Statuses: []Status{status}}, nil)
}

// cmdRingAwait is RING AWAIT id.
func cmdRingAwait(x *call) { x.askRemoteWaiter(false) }

// cmdRingDequeue is RING DEQUEUE id.
func cmdRingDequeue(x *call) { x.askRemoteWaiter(true) }

// askRemoteWaiter leaves the answer to [blocked.ask], once the request is not in use any more.
func (x *call) askRemoteWaiter(leave bool) {
	f := x.conn.from
	if len(f.group.batches) != 1 || f.group.batches[0].Requests != 1 {
		x.Error("ERR commands to a waiting client of another node cannot be combined with others")
		return
	}
	id, slice := string(x.Args[2]), f.remainingWait(&request{}, remotePollTime)
	s := x.srv
	f.parked = func(answer func(Replies, error)) { s.blocked.ask(s, id, slice, leave, answer) }
}

// ask answers whether a remote waiter was served: at once if its wait has ended or leave withdraws
// it, and otherwise when it ends, or after slice.
func (b *blocked) ask(s *Server, id string, slice time.Duration, leave bool, answer func(Replies, error)) {
	b.mu.Lock()
	g := b.remote[id]
	var before func(Replies, error)
	var said []byte
	var status Status
	switch {
	case g == nil:
		said, status = append(append(said, replyGone...), s.runID+"\r\n"...), StatusGone
	case g.w.hasEnded():
		b.dropRemote(g)
		said, status = g.w.result()
	case leave && b.take(g.w, waitOver):
		before, g.answer = g.answer, nil
		b.dropRemote(g)
		said, status = replyLeft, StatusLeft
	default:
		before, g.answer = g.answer, answer
		b.setRemoteTimer(g, slice)
	}
	b.mu.Unlock()
	if before != nil {
		respond(before, replyWaits, StatusWaits)
	}
	if said != nil {
		respond(answer, said, status)
	}
}

// SendBack ends all waits, so that each command is routed again, and refuses new ones. A node that
// leaves calls it.
func (s *Server) SendBack() {
	b := &s.blocked
	b.mu.Lock()
	b.full = true
	b.mu.Unlock()
	b.sendAway(func(w *waiter) bool { return true })
}

// end withdraws all remote waiters when the server has closed, so that no timer runs on.
func (b *blocked) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range b.remote {
		b.take(g.w, waitOver)
		b.dropRemote(g)
	}
}
