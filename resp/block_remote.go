package resp

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
)

// A command of another node's client that waits here is a remote waiter: RING ENQUEUE, in front of
// the command itself, lets it in if it is not served at once; RING AWAIT asks what has become
// of it, and is answered when something has, or after a while; RING DEQUEUE ends it. So no
// request of one node to another takes longer than others do, the remote waiter keeps its place
// meanwhile, and a connection between nodes that breaks does not cost it that.
//
// A remote waiter that nobody has asked for in guestGrace is not served any more. What it was served
// is kept for guestKept, unless it was told.

const (
	// guestSlice is how long RING AWAIT waits at most.
	guestSlice = 10 * time.Second
	guestGrace = time.Second
	guestKept  = 30 * time.Second
	// maxGuest bounds the arguments that the node keeps for a remote waiter, in bytes.
	maxGuest = 1 << 20
)

// What RING AWAIT and RING DEQUEUE are answered, if it is not the command's reply. The status
// of the reply tells, the text is for people; behind guestGone follows the node's run.
var (
	remoteWaiterTicket = []byte("+WAITS\r\n")
	guestLeft          = []byte("+LEFT\r\n")
	guestGone          = []byte("+GONE ")
)

// A remoteWaiter is a waiter of another node. Its fields are guarded by blocked.mu.
type remoteWaiter struct {
	id     string
	w      *waiter
	answer func(Replies, error) // RING AWAIT's, if there is one
	timer  *time.Timer
	turn   int  // counts what the timer was set for
	known  bool // how it has ended
	budget *budget
	cost   int64 // bytes that count for the budget
}

// remoteWaiterCost is about what a remote waiter takes beside its arguments, in bytes.
const remoteWaiterCost = 1 << 10

// A remoteEnqueue is what RING ENQUEUE says of the command behind it.
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
		x.conn.from.visit = remoteEnqueue{id: string(x.Args[2]), ticket: ticket, memo: memo}
		x.OK()
	}
}

// registerRemote lets a remote waiter in. It replies with remoteWaiterTicket, the remote waiter's
// ticket, for how long it waits, in ms, who it is that says so, and the memo.
func (f *forwardedConn) registerRemote(x *call, w *waiter) {
	s := x.srv
	if len(f.conn.in) > maxGuest {
		x.Error("ERR the arguments are too long for a command that waits for another node")
		return
	}
	w.ticket = f.visit.ticket
	w.place(x)
	g := &remoteWaiter{id: f.visit.id, w: w, budget: &s.budget, cost: int64(len(f.conn.in)) + remoteWaiterCost}
	if !s.budget.host(g.cost) {
		x.Error("ERR not enough memory for a command with such arguments to wait for another node")
		return
	}
	w.told = func() { s.blocked.remoteEnded(g) }
	if !s.blocked.registerRemote(g) {
		f.group.refused = 0
		x.notRun()
		return
	}
	w.checkRoutes(s)
	x.says(StatusWaits)
	x.Simple(fmt.Sprintf("WAITS %d %d %s %x", w.ticket, w.Timeout.Milliseconds(), s.runID, w.Memo))
}

// asksEnqueue tells whether a batch asks for a remote waiter to be let in, who keeps its arguments.
func asksEnqueue(batch []byte) bool { return bytes.HasPrefix(batch, enqueue) }

var enqueue = []byte("*5\r\n$4\r\nRING\r\n$7\r\nENQUEUE\r\n")

// registerRemote registers a remote waiter. It returns false if the server closes, or has one of
// that name.
func (b *blocked) registerRemote(g *remoteWaiter) bool {
	b.mu.Lock()
	known := b.guests[g.id] != nil
	if !known && !b.full {
		b.guests[g.id] = g
		b.setRemoteTimer(g, guestGrace)
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

// setRemoteTimer has the remote waiter's time come after d. mu is held.
func (b *blocked) setRemoteTimer(g *remoteWaiter, d time.Duration) {
	if g.timer != nil {
		g.timer.Stop()
	}
	g.turn++
	turn := g.turn
	g.timer = time.AfterFunc(d, func() { b.remoteTimedOut(g, turn) })
}

// dropRemote ends a remote waiter. mu is held.
func (b *blocked) dropRemote(g *remoteWaiter) {
	if g.timer != nil {
		g.timer.Stop()
	}
	g.turn++
	g.takes(-g.cost)
	if b.guests[g.id] == g {
		delete(b.guests, g.id)
	}
}

// takes changes what the remote waiter takes by n bytes. blocked.mu is held.
func (g *remoteWaiter) takes(n int64) {
	g.cost += n
	g.budget.guests.Add(n)
}

// remoteTimedOut is called when the remote waiter's time has come: who asks is told that it waits
// still, or nobody has asked in time.
func (b *blocked) remoteTimedOut(g *remoteWaiter, turn int) {
	b.mu.Lock()
	if g.turn != turn {
		b.mu.Unlock()
		return
	}
	answer := g.answer
	switch {
	case g.w.state == waitClaimed && !g.known: // it is being served
		b.setRemoteTimer(g, guestGrace)
		answer = nil
	case answer != nil:
		g.answer = nil
		b.setRemoteTimer(g, guestGrace)
	default:
		b.take(g.w, waitOver)
		b.dropRemote(g)
	}
	b.mu.Unlock()
	if answer != nil {
		respond(answer, remoteWaiterTicket, StatusWaits)
	}
}

// hasEnded tells whether the waiter has ended.
func (w *waiter) hasEnded() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// remoteEnded is told that the remote waiter's wait has ended.
func (b *blocked) remoteEnded(g *remoteWaiter) {
	b.mu.Lock()
	answer := g.answer
	g.answer, g.known = nil, true
	if answer != nil {
		b.dropRemote(g)
	} else if b.guests[g.id] == g {
		g.takes(int64(cap(g.w.out.Buf)))
		b.setRemoteTimer(g, guestKept)
	}
	b.mu.Unlock()
	if answer != nil {
		result, status := g.w.result()
		respond(answer, result, status)
	}
}

// result is what is told of a wait that has ended.
func (w *waiter) result() ([]byte, Status) {
	switch w.how {
	case waitServed:
		return w.out.Buf, StatusRun
	case waitFailed:
		w.out.Buf = w.out.Buf[:0]
		w.out.Error(w.msg)
		return w.out.Buf, StatusRun
	}
	return guestLeft, StatusLeft
}

// respond answers a request with one reply.
func respond(answer func(Replies, error), reply []byte, status Status) {
	answer(Replies{Bytes: reply, Ends: []int{len(reply)}, Statuses: []Status{status}}, nil)
}

// cmdRingAwait is RING AWAIT id.
func cmdRingAwait(x *call) { x.askRemoteWaiter(false) }

// cmdRingDequeue is RING DEQUEUE id.
func cmdRingDequeue(x *call) { x.askRemoteWaiter(true) }

// askRemoteWaiter has the answer given once nothing refers to the request any more.
func (x *call) askRemoteWaiter(leave bool) {
	f := x.conn.from
	if len(f.group.batches) != 1 || f.group.batches[0].Requests != 1 {
		x.Error("ERR commands to a waiting client of another node cannot be combined with others")
		return
	}
	id, slice := string(x.Args[2]), f.remainingWait(&request{}, guestSlice)
	s := x.srv
	f.parked = func(answer func(Replies, error)) { s.blocked.ask(s, id, slice, leave, answer) }
}

// ask answers what has become of a remote waiter: at once if something has, or if it is to leave,
// else when something does, or after slice.
func (b *blocked) ask(s *Server, id string, slice time.Duration, leave bool, answer func(Replies, error)) {
	b.mu.Lock()
	g := b.guests[id]
	var before func(Replies, error)
	var said []byte
	var status Status
	switch {
	case g == nil:
		said, status = append(append(said, guestGone...), s.runID+"\r\n"...), StatusGone
	case g.w.hasEnded():
		b.dropRemote(g)
		said, status = g.w.result()
	case leave && b.take(g.w, waitOver):
		before, g.answer = g.answer, nil
		b.dropRemote(g)
		said, status = guestLeft, StatusLeft
	default:
		before, g.answer = g.answer, answer
		b.setRemoteTimer(g, slice)
	}
	b.mu.Unlock()
	if before != nil {
		respond(before, remoteWaiterTicket, StatusWaits)
	}
	if said != nil {
		respond(answer, said, status)
	}
}

// SendBack sends all back that wait here for other nodes' clients, and lets nobody else in:
// for a node that ends.
func (s *Server) SendBack() {
	b := &s.blocked
	b.mu.Lock()
	b.full = true
	b.mu.Unlock()
	b.sendAway(func(w *waiter) bool { return true })
}

// end has nothing run on when the server has closed.
func (b *blocked) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range b.guests {
		b.take(g.w, waitOver)
		b.dropRemote(g)
	}
}
