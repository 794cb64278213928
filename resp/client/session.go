package client

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/ring"
)

// A session is a connection on which a node tells of the placement: all of it at first,
// then each change, if the node can push; and it is asked now and then whether anything
// has been missed.
type session struct {
	*talk
	addr   string
	home   string     // where the node says that it is; addr if it does not
	plain  bool       // not of Ringside: there is nothing to ask
	known  *directory // nil: a node alone, or plain
	digest string     // of the placement that was fetched last
	pushed bool       // changes are pushed

	// Once listen runs, replies come through it.
	arrived chan Reply
	ended   chan error
	over    chan struct{}
}

// meet connects to a node and learns from it.
func (r *Ring) meet(ctx context.Context, addr string) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.DialTimeout)
	defer cancel()
	t, err := r.cfg.greet(ctx, addr)
	if err != nil {
		return nil, err
	}
	s := &session{talk: t, addr: addr, home: addr}
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetDeadline(time.Unix(1, 0)) })
	err = r.learnAll(s)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = s.conn.Close()
		return nil, fmt.Errorf("learn from %s: %w", addr, err)
	}
	return s, nil
}

// learnAll asks a node for everything. The subscription comes before the placement, so
// that no change is missed in between.
func (r *Ring) learnAll(s *session) error {
	reply, err := s.do("COMMAND")
	if err != nil {
		return err
	}
	if all := parseCommands(reply); reply.kind == List {
		r.commands.Store(&all)
	}
	reply, err = s.do("RING", "INFO")
	if err != nil {
		return err
	}
	if refusal := reply.Err(); refusal != nil {
		if refusesClient(refusal) {
			return refusal
		}
		s.plain = true
		return nil
	}
	if reply, err = s.do("HASHMASK", "SUBSCRIBE"); err != nil {
		return err
	}
	s.pushed = reply.Err() == nil
	return r.fetch(s)
}

// fetch gets the whole placement.
func (r *Ring) fetch(s *session) error {
	if s.plain {
		_, err := s.do("PING")
		return err
	}
	r.metrics.refreshes.Inc(1)
	reply, err := s.do("RING", "INFO")
	if err != nil {
		return err
	}
	info, err := infoOf(reply)
	if err != nil {
		return err
	}
	if reply, err = s.do("RING", "PLACEMENT"); err != nil {
		return err
	}
	b, err := reply.Bytes()
	if err != nil {
		s.known, s.digest = nil, info["digest"] // it is alone
		return nil
	}
	p := new(ring.Placement)
	if err := p.UnmarshalBinary(b); err != nil {
		return fmt.Errorf("%w: %w", ErrReply, err)
	}
	addrs, err := s.nodes()
	if err != nil {
		return err
	}
	if s.known, err = newDirectory(info, p, addrs); err != nil {
		return err
	}
	s.digest = info["digest"]
	if home := addrs[info["node"]]; home != "" {
		s.home = home
	}
	return nil
}

// nodes asks where clients find the nodes. What it cannot tell is not known: then all
// commands go to the node itself.
func (s *session) nodes() (map[string]string, error) {
	reply, err := s.do("RING", "NODES")
	if err != nil {
		return nil, err
	}
	addrs := make(map[string]string, len(reply.elems))
	for i := range reply.elems {
		node, err := reply.elems[i].Map()
		if err != nil {
			continue
		}
		id, _ := node["id"].Text()
		addr, _ := node["addr"].Text()
		if id != "" && strings.Contains(addr, ":") {
			addrs[id] = addr
		}
	}
	return addrs, nil
}

// infoOf reads what RING INFO tells.
func infoOf(r Reply) (map[string]string, error) {
	text, err := r.Text()
	if err != nil {
		return nil, err
	}
	info := make(map[string]string)
	for field := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(field), ":"); ok {
			info[name] = value
		}
	}
	return info, nil
}

// blank tells that nobody has anything, as the node sees it.
func (s *session) blank() bool { return s.known != nil && s.known.blank() }

// listen has what arrives read by a goroutine of its own, until hush.
func (s *session) listen(ctx context.Context, patience time.Duration) {
	s.arrived, s.ended, s.over = make(chan Reply), make(chan error, 1), make(chan struct{})
	go func() {
		for {
			r, err := s.replies.next()
			if err != nil {
				s.ended <- err
				return
			}
			select {
			case s.arrived <- r:
			case <-s.over:
				s.ended <- ErrClosed
				return
			}
		}
	}()
	s.next = func() (Reply, error) {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case r := <-s.arrived:
			return r, nil
		case err := <-s.ended:
			s.ended <- err // hush waits for it, too
			return Reply{}, err
		case <-timer.C:
			return Reply{}, ErrTimeout
		case <-ctx.Done():
			return Reply{}, ErrClosed
		}
	}
}

// hush closes the connection and waits for the goroutine.
func (s *session) hush() {
	close(s.over)
	_ = s.conn.Close()
	<-s.ended
}

// takePushes takes in the changes that have arrived, and tells whether there were any.
func (s *session) takePushes(m *metrics) (bool, error) {
	any := false
	for _, push := range s.pushes {
		if s.known == nil || len(push.elems) != 3 || string(push.elems[1].text) != placementChannel {
			continue
		}
		any = true
		m.pushes.Inc(1)
		if err := s.known.apply(string(push.elems[2].text)); err != nil {
			return any, err
		}
	}
	s.pushes = s.pushes[:0]
	return any, nil
}

// placementChannel is the channel of the messages about the placement.
const placementChannel = "__placement__"
