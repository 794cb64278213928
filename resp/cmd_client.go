package resp

import (
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/maintenance"
	"github.com/ringside-kv/ringside/resp/wire"
)

func cmdClientId(x *call) { x.Int(x.conn.session.id) }

func cmdClientGetname(x *call) {
	s := &x.conn.session
	s.mu.Lock()
	name := s.name
	s.mu.Unlock()
	if name == "" {
		x.Null()
		return
	}
	x.BulkString(name)
}

func cmdClientSetname(x *call) {
	if msg := command.BadClientName(x.Args[2]); msg != "" {
		x.Error(msg)
		return
	}
	x.conn.session.setName(string(x.Args[2]))
	x.OK()
}

// cmdClientSetinfo is of Redis 7.2; libraries send it when they connect.
func cmdClientSetinfo(x *call) {
	s := &x.conn.session
	var field *string
	switch {
	case wire.EqualFold(x.Args[2], "lib-name"):
		field = &s.libName
	case wire.EqualFold(x.Args[2], "lib-ver"):
		field = &s.libVer
	default:
		x.Error("ERR Unrecognized option '" + string(command.Shown(x.Args[2], 128)) + "'")
		return
	}
	value := x.Args[3]
	if !command.IsClientWord(value) {
		x.Error("ERR " + string(x.Args[2]) + " cannot contain spaces, newlines or special characters.")
		return
	}
	s.mu.Lock()
	*field = string(value)
	s.mu.Unlock()
	x.OK()
}

// cmdClientReply always writes a reply: one that the new mode drops, but for ON.
func cmdClientReply(x *call) {
	s := &x.conn.session
	switch {
	case wire.EqualFold(x.Args[2], "on"):
		s.replies = replyOn
	case wire.EqualFold(x.Args[2], "off"):
		s.replies = replyOff
	case wire.EqualFold(x.Args[2], "skip"):
		if s.replies != replyOff {
			s.replies = replySkipNext
		}
	default:
		x.Error(command.MsgSyntax)
		return
	}
	x.OK()
}

func cmdClientNoEvict(x *call) { x.toggle(&x.conn.session.noEvict) }

// cmdClientNoTouch is of Redis 7.2.
func cmdClientNoTouch(x *call) {
	x.toggle(&x.conn.session.noTouch)
	x.conn.unit.SetNoTouch(x.conn.session.noTouch.Load())
}

// toggle sets a switch by the word behind the subcommand, and replies.
func (x *call) toggle(at *atomic.Bool) {
	on := wire.EqualFold(x.Args[2], "on")
	if !on && !wire.EqualFold(x.Args[2], "off") {
		x.Error(command.MsgSyntax)
		return
	}
	at.Store(on)
	x.OK()
}

func cmdClientMaintNotifications(x *call) {
	endpoint, on, msg := maintenance.Parse(x.Args[2:], x.Proto)
	if msg != "" {
		x.Error(msg)
		return
	}
	c := x.conn
	if c.srv.clusterMode() {
		endpoint = maintenance.Routed
	}
	c.srv.Notices.Remove(&c.pushes)
	if on {
		x.then = func() { c.srv.Notices.Add(&c.pushes, endpoint) }
	}
	x.OK()
}

func cmdClientPause(x *call) {
	all := true
	switch len(x.Args) {
	case 3:
	case 4:
		switch {
		case wire.EqualFold(x.Args[3], "write"):
			all = false
		case !wire.EqualFold(x.Args[3], "all"):
			x.Error("ERR CLIENT PAUSE mode must be WRITE or ALL")
			return
		}
	default:
		x.WrongSubcommand("CLIENT")
		return
	}
	d, msg := command.ParseTimeout(x.Args[2])
	if msg != "" {
		x.Error(msg)
		return
	}
	x.srv.pause.Start(time.Now().Add(d), all) // a pause of centuries ends after 292 years
	x.OK()
}

func cmdClientUnpause(x *call) {
	x.srv.pause.Finish()
	x.OK()
}
