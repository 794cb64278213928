package bus

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// accept runs until the bus closes.
func (b *Bus) accept() {
	defer b.running.Done()
	var delay time.Duration
	for {
		raw, err := b.listener.Accept()
		if err != nil {
			if b.ctx.Err() != nil {
				return
			}
			// Out of file descriptors, most likely: let some connections end.
			delay = min(max(2*delay, 5*time.Millisecond), time.Second)
			b.cfg.Logger.Warn("bus: accepting a connection failed", "err", err, "retry", delay)
			select {
			case <-time.After(delay):
			case <-b.ctx.Done():
				return
			}
			continue
		}
		delay = 0
		conn, err := b.adopt(raw)
		if err != nil {
			return
		}
		if b.pending.admit(conn) {
			b.metrics.evicted.Inc(1)
		}
		b.running.Add(1)
		go b.receive(conn)
	}
}

// receive shakes hands and hands over.
func (b *Bus) receive(own dialledConn) {
	defer b.running.Done()
	_ = own.SetDeadline(time.Now().Add(b.cfg.HandshakeTimeout))
	conn, err := acceptSecure(&b.cfg, own)
	var peer Peer
	if err == nil {
		conn, peer, err = acceptHandshake(&b.cfg, conn, func(p Purpose) bool { return b.handler(p) != nil })
	}
	b.pending.release(own)
	if err == nil {
		err = own.SetDeadline(time.Time{}) // fails if the slot was taken away meanwhile
	}
	if err != nil {
		_ = own.Close()
		b.report(own.RemoteAddr(), err)
		return
	}
	b.cfg.Met(peer)
	handler := b.handler(peer.Purpose)
	if handler == nil {
		_ = own.Close() // taken away meanwhile
		return
	}
	b.metrics.accepted.Inc(1)
	b.countPlain(peer)
	handler(peer, conn)
}

func (b *Bus) report(from net.Addr, err error) {
	var refused *RefusedError
	if !errors.As(err, &refused) {
		b.metrics.garbage.Inc(1)
		b.cfg.Logger.Debug("bus: handshake failed", "node", from, "err", err)
		return
	}
	b.metrics.refused.Tagged(map[string]string{"reason": refused.Reason.first()}).Counter("refused_total").Inc(1)
	if refused.Reason == reasonPurpose { // it begins, or ends
		b.cfg.Logger.Debug("bus: handshake refused", "node", from, "err", err)
		return
	}
	if b.warned.allow(time.Now()) {
		b.cfg.Logger.Warn("bus: handshake refused", "node", from, "err", err)
	}
}

// first is one cause of the set, so that a metric has few tags however a stranger
// combines them.
func (r Reason) first() string {
	return (r & -r).String()
}

// pending are the accepted connections in their handshake, oldest first. When there
// is no room, the oldest has to go: a peer that floods the port then has to be faster than
// honest nodes shake hands, not merely as patient as the time-out.
type pending struct {
	slots chan struct{}
	mu    sync.Mutex
	order []net.Conn
}

func (p *pending) init(limit int) { p.slots = make(chan struct{}, limit) }

// admit waits for a slot, which closing the oldest frees. It is called from one
// goroutine.
func (p *pending) admit(conn net.Conn) (evicted bool) {
	select {
	case p.slots <- struct{}{}:
	default:
		evicted = p.evict()
		p.slots <- struct{}{}
	}
	p.mu.Lock()
	p.order = append(p.order, conn)
	p.mu.Unlock()
	return evicted
}

func (p *pending) evict() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.order) == 0 {
		return false // they are all on their way out
	}
	_ = p.order[0].Close()
	p.order = p.order[1:]
	return true
}

func (p *pending) release(conn net.Conn) {
	p.mu.Lock()
	for i, c := range p.order {
		if c == conn {
			p.order = append(p.order[:i], p.order[i+1:]...)
			break
		}
	}
	p.mu.Unlock()
	<-p.slots
}

// A limiter lets one event a second through, so that no stranger fills the log.
type limiter struct{ last atomic.Int64 }

func (l *limiter) allow(now time.Time) bool {
	last, t := l.last.Load(), now.UnixNano()
	return t-last >= int64(time.Second) && l.last.CompareAndSwap(last, t)
}
