package client

import "fmt"

// read implements muxEnd.
func (l *lane) read() error {
	for {
		r, err := l.replies.next()
		if err != nil {
			return err
		}
		if r.push {
			continue // nobody has asked for it
		}
		if l.mine.first == nil && !l.takeLine() {
			return fmt.Errorf("%w: a reply to nothing: %v %q", ErrReply, r.kind, clip(r.text))
		}
		o := l.mine.first
		if o.replies = append(o.replies, r); len(o.replies) < o.n {
			continue
		}
		l.mine.pop()
		l.answered += len(o.body)
		o.finish(nil)
	}
}

// takeLine takes over what has been sent meanwhile.
func (l *lane) takeLine() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mine.join(&l.line)
	return l.mine.first != nil
}

// beforeRead makes room for what replies have come to.
func (l *lane) beforeRead() {
	l.progress.Add(1)
	if l.answered == 0 {
		return
	}
	l.mu.Lock()
	l.inFlight -= l.answered
	l.answered = 0
	lead := l.claim()
	l.mu.Unlock()
	if lead {
		l.kick <- struct{}{}
	}
}
