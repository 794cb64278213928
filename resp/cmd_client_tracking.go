package resp

import (
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

func cmdClientTracking(x *call) {
	t, msg := x.parseTracking()
	switch {
	case msg != "":
	case wire.EqualFold(x.Args[2], "on"):
		msg = x.track(t)
	case wire.EqualFold(x.Args[2], "off"):
		x.untrack()
	default:
		msg = command.MsgSyntax
	}
	if msg != "" {
		x.Error(msg)
		return
	}
	x.OK()
}

// parseTracking returns the options, or an error reply.
func (x *call) parseTracking() (t *tracker, msg string) {
	t = &tracker{conn: x.conn}
	for args := x.Args[3:]; len(args) > 0; args = args[1:] {
		switch {
		case wire.EqualFold(args[0], "redirect") && len(args) > 1:
			if t.redirect != 0 {
				return nil, "ERR A client can only redirect to a single other client"
			}
			id, ok := wire.ParseInt(args[1])
			if !ok {
				return nil, command.MsgNotInteger
			}
			conns := x.srv.snapshot()
			i := slices.IndexFunc(conns, func(c *conn) bool { return c.session.id == id })
			if i < 0 {
				return nil, "ERR The client ID you want redirect to does not exist"
			}
			t.redirect, t.target = id, conns[i]
			args = args[1:]
		case wire.EqualFold(args[0], "prefix") && len(args) > 1:
			t.prefixes = append(t.prefixes, string(args[1]))
			args = args[1:]
		case wire.EqualFold(args[0], "bcast"):
			t.broadcast = true
		case wire.EqualFold(args[0], "optin"):
			t.optIn = true
		case wire.EqualFold(args[0], "optout"):
			t.optOut = true
		case wire.EqualFold(args[0], "noloop"):
			t.noLoop = true
		default:
			return nil, command.MsgSyntax
		}
	}
	return t, ""
}

// track has the client tracked, or returns an error reply.
func (x *call) track(t *tracker) (msg string) {
	c := x.conn
	old := c.session.tracking.Load()
	switch {
	case !t.broadcast && len(t.prefixes) > 0:
		return "ERR PREFIX option requires BCAST mode to be enabled"
	case old != nil && old.broadcast != t.broadcast:
		return "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode."
	case t.broadcast && (t.optIn || t.optOut):
		return "ERR OPTIN and OPTOUT are not compatible with BCAST"
	case t.optIn && t.optOut:
		return "ERR You can't specify both OPTIN mode and OPTOUT mode"
	case old != nil && (t.optIn && old.optOut || t.optOut && old.optIn):
		return "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode."
	}
	if msg := overlap(t, old); msg != "" {
		return msg
	}
	if old != nil && t.broadcast {
		if len(t.prefixes) == 0 {
			t.prefixes = append(t.prefixes, "")
		}
		t.prefixes = append(t.prefixes, old.prefixes...)
	} else if t.broadcast && len(t.prefixes) == 0 {
		t.prefixes = []string{""}
	}
	slices.Sort(t.prefixes)
	if old != nil {
		t.reads = old.reads
	}
	t.reads.caching = false
	by := int64(0)
	if t.noLoop {
		by = c.session.id
	}
	c.unit.SetAuthor(by)
	c.session.redirects.Store(c.session.redirect && !c.session.readonly)
	x.srv.tracking.add(t)
	return ""
}

// overlap returns an error reply if one of the prefixes begins another.
func overlap(t, old *tracker) string {
	begins := func(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }
	for i, p := range t.prefixes {
		if old != nil {
			for _, q := range old.prefixes {
				if begins(p, q) {
					return "ERR Prefix '" + p + "' overlaps with an existing prefix '" + q + "'. Prefixes for a single client must not overlap."
				}
			}
		}
		for _, q := range t.prefixes[i+1:] {
			if begins(p, q) {
				return "ERR Prefix '" + p + "' overlaps with another provided prefix '" + q + "'. Prefixes for a single client must not overlap."
			}
		}
	}
	return ""
}

// untrack has the client tracked no more; what was to be told of its reads so far is
// told before.
func (x *call) untrack() {
	c := x.conn
	if t := c.session.tracking.Load(); t != nil && t.reads.holding {
		t.reads.holding = false
		c.pushes.hold(false)
	}
	c.unit.SetAuthor(0)
	x.srv.tracking.remove(c)
}

func cmdClientCaching(x *call) {
	t := x.conn.session.tracking.Load()
	switch {
	case t == nil:
		x.Error("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	case wire.EqualFold(x.Args[2], "yes") && !t.optIn:
		x.Error("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
	case wire.EqualFold(x.Args[2], "no") && !t.optOut:
		x.Error("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
	case wire.EqualFold(x.Args[2], "yes"), wire.EqualFold(x.Args[2], "no"):
		t.reads.caching = true
		x.OK()
	default:
		x.Error(command.MsgSyntax)
	}
}

// redirection is the number of the connection that is told in the client's place: 0 if that is
// itself, -1 if there is nothing to tell.
func (c *conn) redirection() int64 {
	if t := c.session.tracking.Load(); t != nil {
		return t.redirect
	}
	return -1
}

func cmdClientGetredir(x *call) { x.Int(x.conn.redirection()) }

func cmdClientTrackinginfo(x *call) {
	flags, prefixes := []string{"off"}, []string(nil)
	if t := x.conn.session.tracking.Load(); t != nil {
		flags, prefixes = []string{"on"}, t.prefixes
		for _, f := range []struct {
			name string
			set  bool
		}{
			{"bcast", t.broadcast},
			{"optin", t.optIn},
			{"caching-yes", t.optIn && t.reads.caching},
			{"optout", t.optOut},
			{"caching-no", t.optOut && t.reads.caching},
			{"noloop", t.noLoop},
			{"broken_redirect", t.broken.Load()},
		} {
			if f.set {
				flags = append(flags, f.name)
			}
		}
	}
	x.Map(3)
	x.BulkString("flags")
	x.Writer.Set(len(flags))
	for _, flag := range flags {
		x.BulkString(flag)
	}
	x.BulkString("redirect")
	x.Int(x.conn.redirection())
	x.BulkString("prefixes")
	x.Array(len(prefixes))
	for _, p := range prefixes {
		x.BulkString(p)
	}
}
