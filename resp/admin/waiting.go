package admin

import (
	"container/list"
	"net"
)

// waiting are the connections whose request has not come, or not all of it, in the order in
// which they began to wait. The server's lock guards it.
type waiting struct {
	all   int       // connections, also those whose requests are being answered
	order list.List // of net.Conn
	// at is where a connection is in order: nil while its request is being answered.
	at map[net.Conn]*list.Element
}

// A connKey is what a request's context knows its connection by.
type connKey struct{}

func (w *waiting) open(c net.Conn) {
	if w.at == nil {
		w.at = make(map[net.Conn]*list.Element)
	}
	w.all++
	w.at[c] = w.order.PushBack(c)
}

func (w *waiting) closed(c net.Conn) {
	if e, open := w.at[c]; open {
		w.all--
		if e != nil {
			w.order.Remove(e)
		}
		delete(w.at, c)
	}
}

func (w *waiting) leave(c net.Conn) {
	if e := w.at[c]; e != nil {
		w.order.Remove(e)
		w.at[c] = nil
	}
}

func (w *waiting) enter(c net.Conn) {
	if e, open := w.at[c]; open && e == nil {
		w.at[c] = w.order.PushBack(c)
	}
}

// evict closes the connection that has waited longest. There is one: the newest waits.
func (w *waiting) evict() {
	if e := w.order.Front(); e != nil {
		c := e.Value.(net.Conn)
		w.closed(c)
		_ = c.Close()
	}
}
