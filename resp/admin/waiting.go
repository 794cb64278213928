package admin

import (
	"container/list"
	"io"
	"net"
)

// waiting are the connections whose request has not come, or not all of it, in the order in
// which they began to wait, and those whose requests are being answered, in the order in which they came. The server's
// lock guards it.
type waiting struct {
	order    list.List // of net.Conn
	answered list.List // of net.Conn
	at       map[net.Conn]place
}

// A place is where a connection is in one of the lists.
type place struct {
	in *list.List
	e  *list.Element
}

// A connKey is what a request's context knows its connection by.
type connKey struct{}

func (w *waiting) open(c net.Conn) {
	if w.at == nil {
		w.at = make(map[net.Conn]place)
	}
	w.at[c] = place{&w.order, w.order.PushBack(c)}
}

func (w *waiting) closed(c net.Conn) {
	if at, open := w.at[c]; open {
		at.in.Remove(at.e)
		delete(w.at, c)
	}
}

// leave notes that a request has come, with its body.
func (w *waiting) leave(c net.Conn) { w.move(c, &w.answered) }

// enter notes that a connection waits for the next request.
func (w *waiting) enter(c net.Conn) { w.move(c, &w.order) }

func (w *waiting) move(c net.Conn, to *list.List) {
	if at, open := w.at[c]; open && at.in != to {
		at.in.Remove(at.e)
		w.at[c] = place{to, to.PushBack(c)}
	}
}

// evict closes a connection to make room for a new one: the one that has waited longest, or else the one whose answer has
// taken longest, as a client that does not read it makes it do. Health checks are among the new ones.
func (w *waiting) evict(latest net.Conn) {
	e := w.order.Front()
	if e == nil || e.Value.(net.Conn) == latest && w.answered.Len() > 0 {
		e = w.answered.Front()
	}
	c := e.Value.(net.Conn)
	w.closed(c)
	_ = c.Close()
}

// A body is that of a request. Its connection waits until all of it has come.
type body struct {
	io.ReadCloser
	came func()
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.came()
	}
	return n, err
}
