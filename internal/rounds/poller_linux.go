package rounds

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ringside-kv/ringside/internal/background"
)

// A Poller has the parked connections and gives them their turns. Its methods may be called from any
// goroutine.
type Poller struct {
	epoll int
	file  *os.File // of epoll: package os closes it, and its waiting is known to the scheduler
	raw   syscall.RawConn
	ask   func(fd uintptr) bool // askOnce, made once
	waits atomic.Bool           // the leader, for events

	// What epoll has told and is not seen to yet: events[next:end]. Only the leader asks for more, when
	// nothing is left.
	round     sync.Mutex
	events    [maxEvents]unix.EpollEvent
	next, end int
	asked     int          // events of the last question; the leader's
	helpers   atomic.Int32 // goroutines that take turns of the round beside the leader
	most      int32        // of them

	ends    sync.Mutex
	atEnd   []func() // for the end of the round
	hasEnds atomic.Bool

	state atomic.Uint64 // the term, and the bit inTurn
	turns atomic.Uint64 // how many have begun
	// watched: a goroutine looks whether turns take long.
	watched atomic.Bool
	// calm is the time, in ns since began, until which no connection gets a turn; 0 if they do.
	calm  atomic.Int64
	began time.Time

	mu     sync.RWMutex
	conns  []*Conn // by descriptor
	closed chan struct{}
	done   sync.WaitGroup
	// unlisted ends that work in the background calls nudge.
	unlisted func()
}

const (
	maxEvents = 256
	inTurn    = 1 // in Poller.state; a term is an even number
	// patience is how long a turn may take until another goroutine leads.
	patience = 5 * time.Millisecond
	// calmFor is for how long no connection gets a turn after one has taken longer.
	calmFor = 50 * time.Millisecond
	// share is how many connections of a round a helper is called for.
	share = 8
)

// New returns a poller, which runs until Close.
func New() (*Poller, error) { return newPoller(runtime.GOMAXPROCS(0) - 1) }

// newPoller is New with so many helpers at most.
func newPoller(helpers int) (*Poller, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	if err := unix.SetNonblock(epoll, true); err != nil {
		return nil, errors.Join(fmt.Errorf("epoll: %w", err), unix.Close(epoll))
	}
	p := &Poller{
		epoll: epoll, file: os.NewFile(uintptr(epoll), "epoll"),
		began: time.Now(), closed: make(chan struct{}), most: int32(helpers),
	}
	p.ask = p.askOnce
	if p.raw, err = p.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, p.file.Close())
	}
	p.unlisted = background.OnYield(p.nudge)
	p.done.Add(1)
	go p.lead(0)
	return p, nil
}

// Close ends the poller. All its connections have been closed, and their handlers have returned.
func (p *Poller) Close() error {
	p.unlisted()
	close(p.closed)
	err := p.file.Close()
	p.done.Wait()
	return err
}

// Take replaces a connection of package net by a Conn with a duplicate of its socket, and closes nc.
// The error is errors.ErrUnsupported for what is no bare socket; then, as after any error, nc is as it was.
func (p *Poller) Take(nc net.Conn) (*Conn, error) {
	bare, _ := socketOf(nc).(syscall.Conn)
	if bare == nil {
		return nil, errors.ErrUnsupported
	}
	raw, err := bare.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	failed := raw.Control(func(of uintptr) { fd, err = unix.FcntlInt(of, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(failed, err); err != nil {
		return nil, fmt.Errorf("duplicate a socket: %w", err)
	}
	c := &Conn{fd: fd, p: p, local: nc.LocalAddr(), remote: nc.RemoteAddr()}
	c.in.ready, c.out.ready = make(chan struct{}, 1), make(chan struct{}, 1)
	c.in.over = c.resume
	p.mu.Lock()
	if fd >= len(p.conns) {
		p.conns = append(p.conns, make([]*Conn, fd+64-len(p.conns))...)
	}
	p.conns[fd] = c
	p.mu.Unlock()
	const what = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: what, Fd: int32(fd)}); err != nil {
		p.forget(c)
		return nil, fmt.Errorf("epoll: %w", err)
	}
	_ = nc.Close() // closes its descriptor only: the duplicate keeps the socket open
	return c, nil
}

// sever closes all connections, and drops what they have not sent.
func (p *Poller) sever() {
	p.mu.RLock()
	conns := slices.Clone(p.conns)
	p.mu.RUnlock()
	for _, c := range conns {
		if c != nil {
			c.sever()
		}
	}
}

// forget closes the descriptor of a connection that has no users. It clears the entry first: as soon as the
// descriptor is closed, another connection may get its number.
func (p *Poller) forget(c *Conn) {
	p.mu.Lock()
	p.conns[c.fd] = nil
	p.mu.Unlock()
	_ = unix.Close(c.fd)
}

// connOf returns the connection of a descriptor, or nil. It may be a later one than the one that
// an event was about; then it finds nothing to read.
func (p *Poller) connOf(fd int32) *Conn {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if int(fd) >= len(p.conns) {
		return nil
	}
	return p.conns[fd]
}

// lead gives turns for as long as the term lasts.
func (p *Poller) lead(term uint64) {
	defer p.done.Done()
	for {
		c, more := p.take()
		switch {
		case c != nil:
		case more:
			continue
		case !p.hasEnds.Load():
			if !p.await() {
				return
			}
			continue
		}
		p.turns.Add(1)
		p.state.Store(term | inTurn)
		if !p.watched.Load() && !p.watched.Swap(true) {
			p.done.Add(1)
			go p.watch()
		}
		if c != nil {
			c.handler.Ready(Turn{p: p, term: term})
		} else {
			p.finish()
		}
		if !p.state.CompareAndSwap(term|inTurn, term) {
			return
		}
	}
}

// help gives turns of the round under way, beside the leader. While there is no processor for this
// goroutine, the leader gives all of them.
func (p *Poller) help() {
	defer p.done.Done()
	left := false
	for !left {
		c, more := p.take()
		if !more {
			p.finish()
			p.helpers.Add(-1)
			return
		}
		if c != nil {
			c.handler.Ready(Turn{p: p, left: &left})
		}
	}
}

// take takes the next event of the round, and returns the connection that gets a turn for it, or nil. It
// returns false if there is no event left.
func (p *Poller) take() (c *Conn, more bool) {
	p.round.Lock()
	if p.next == p.end {
		p.round.Unlock()
		return nil, false
	}
	e := p.events[p.next]
	p.next++
	p.round.Unlock()
	if c = p.connOf(e.Fd); c == nil {
		return nil, true
	}
	const end = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	if e.Events&(unix.EPOLLOUT|end) != 0 {
		c.out.wake()
	}
	if e.Events&(unix.EPOLLIN|end) == 0 || !c.noteRead(e.Events&end != 0) {
		return nil, true
	}
	if p.isCalm() {
		go c.handler.Resume()
		return nil, true
	}
	return c, true
}

// await waits for events, and calls helpers for many. It returns false when the poller is closed.
func (p *Poller) await() bool {
	p.asked = 0
	for p.asked == 0 {
		p.waits.Store(true)
		err := p.raw.Read(p.ask)
		p.waits.Store(false)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			_ = p.file.SetReadDeadline(time.Time{})
			continue
		}
		if err != nil || p.asked == 0 {
			return false
		}
	}
	p.round.Lock()
	p.next, p.end = 0, p.asked
	p.round.Unlock()
	for want := min(p.most, int32(p.asked/share)); p.helpers.Load() < want; {
		p.helpers.Add(1) // only the leader does
		p.done.Add(1)
		go p.help()
	}
	return true
}

// nudge wakes the leader if it waits and there are events. The scheduler wakes it by itself, but only when a processor
// has nothing to do, and else every ten milliseconds.
func (p *Poller) nudge() {
	if !p.waits.Load() {
		return
	}
	ready := unix.PollFd{Fd: int32(p.epoll), Events: unix.POLLIN}
	var never unix.Timespec
	n, _, _ := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&ready)), 1, uintptr(unsafe.Pointer(&never)), 0, 0, 0)
	if n == 1 {
		_ = p.file.SetReadDeadline(time.Unix(1, 0))
	}
}

// askOnce asks for events. It returns false if there are none: then it is called again when there
// are. The call is not announced to the scheduler, since it does not wait.
func (p *Poller) askOnce(uintptr) bool {
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.epoll),
			uintptr(unsafe.Pointer(&p.events[0])), maxEvents, 0, 0, 0)
		switch errno {
		case 0:
			p.asked = int(n)
			return n > 0
		case unix.EINTR:
		default:
			return true
		}
	}
}

// pass has another goroutine lead from the next term on, if the turn of this term is under way.
func (p *Poller) pass(term uint64) bool {
	if !p.state.CompareAndSwap(term|inTurn, term+2) {
		return false
	}
	p.done.Add(1)
	go p.lead(term + 2)
	return true
}

func (p *Poller) isCalm() bool {
	until := p.calm.Load()
	if until == 0 {
		return false
	}
	if int64(time.Since(p.began)) < until {
		return true
	}
	p.calm.CompareAndSwap(until, 0)
	return false
}

// watch passes the term on where a turn takes long. It ends when there has been no turn for a while.
func (p *Poller) watch() {
	defer p.done.Done()
	tick := time.NewTicker(patience)
	defer tick.Stop()
	before, idle := p.turns.Load(), 0
	for {
		select {
		case <-p.closed:
			return
		case <-tick.C:
		}
		state, turns := p.state.Load(), p.turns.Load()
		switch {
		case turns != before:
			before, idle = turns, 0
		case state&inTurn != 0:
			if p.pass(state &^ inTurn) {
				p.calm.Store(int64(time.Since(p.began) + calmFor))
			}
		case idle < 20:
			idle++
		default:
			// The next turn starts another one. A turn that began before it could see that there is none
			// shows in turns.
			p.watched.Store(false)
			if p.turns.Load() == turns || p.watched.Swap(true) {
				return
			}
		}
	}
}

// finish calls what turns have put off until the end of the round.
func (p *Poller) finish() {
	if !p.hasEnds.Load() {
		return
	}
	p.ends.Lock()
	all := p.atEnd
	p.atEnd = nil
	p.hasEnds.Store(false)
	p.ends.Unlock()
	for _, f := range all {
		f()
	}
}

// A Turn is that of one connection in a round. The zero Turn is none.
type Turn struct {
	p    *Poller
	term uint64 // of the leader's
	left *bool  // of a helper's: set when it leaves
}

// Leave ends the turn: another goroutine continues the round, and the caller's goroutine belongs to the
// connection until that parks. It does nothing if there is no turn, or it has ended.
func (t *Turn) Leave() {
	switch {
	case t.p == nil:
		return
	case t.isHelpers():
		*t.left = true
		t.p.finish()
		t.p.helpers.Add(-1)
	default:
		t.p.pass(t.term)
	}
	t.p = nil
}

// AtEnd has f called when the round has no turns left: what many turns add to, such as messages for one client, is done
// once. f must not wait. It is called at once if there is no turn, or it has ended.
func (t *Turn) AtEnd(f func()) {
	p := t.p
	if p == nil {
		f()
		return
	}
	p.ends.Lock()
	p.atEnd = append(p.atEnd, f)
	p.hasEnds.Store(true)
	p.ends.Unlock()
	if !t.isHelpers() && p.state.Load() != t.term|inTurn {
		p.finish() // another goroutine leads since, and may have ended the round already
	}
}

func (t *Turn) isHelpers() bool { return t.left != nil }

// InRound reports whether the turn has not ended: then the caller must not wait.
func (t *Turn) InRound() bool { return t.p != nil }
