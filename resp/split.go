package resp

import (
	"bytes"
	"errors"
	"strconv"
	"time"

	"github.com/tidwall/redcon"
)

// A request with keys of several nodes is split where its meaning survives that: each
// node gets the command with its own keys, and the replies are merged. It is not atomic
// then, as a whole.

// merges are the commands that can be split, and how their replies are merged.
var merges = map[string]func(c *conn, parts []part){
	"mget":   mergeArrays,
	"mset":   mergeOK,
	"del":    mergeCounts,
	"unlink": mergeCounts,
	"exists": mergeCounts,
	"touch":  mergeCounts,
}

// A part is what one node does of a request.
type part struct {
	owner int32
	keys  []int // which of the request's keys, by their order
	bytes []byte
	reply []byte
}

// split answers a request whose keys lie at several nodes.
func (c *conn) split(r *request, routes *Routes) {
	merge := merges[r.cmd.full]
	if merge == nil {
		c.refuse(r, msgCrossSlot)
		return
	}
	end := time.Now().Add(forwardTimeout)
	parts, msg := c.runParts(r, routes, end)
	if msg != "" {
		c.refuse(r, msg)
		return
	}
	at := len(c.out.buf)
	merge(c, parts)
	c.count(at)
}

// runParts has every node do its part, and again what a node does not serve any more.
func (c *conn) runParts(r *request, routes *Routes, end time.Time) (through []part, msg string) {
	args := c.args[r.first:r.last]
	refs, err := r.cmd.keysOf(args, nil)
	if err != nil {
		return nil, msgSyntax
	}
	step := r.cmd.keys[0].step
	open := make([]int, len(refs))
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		if time.Now().After(end) || c.closing {
			return nil, msgUnreachable
		}
		var parts []part
		held := false
		for _, i := range open {
			owner := routes.of(c.unit.Place(args[refs[i].pos]).Token())
			if owner == ownerNone {
				return nil, msgNoCopy
			}
			held = held || owner == ownerHeld
			parts = addKey(parts, owner, i)
		}
		if held {
			c.awaitRoutes(routes, routesPause)
			routes = c.srv.routes.Load()
			continue
		}
		open = open[:0]
		var waits []func() (Replies, error)
		for j := range parts {
			p := &parts[j]
			p.bytes = redcon.AppendArray(nil, 1+len(p.keys)*step)
			p.bytes = redcon.AppendBulk(p.bytes, args[0])
			for _, i := range p.keys {
				for _, arg := range args[refs[i].pos : refs[i].pos+step] {
					p.bytes = redcon.AppendBulk(p.bytes, arg)
				}
			}
			waits = append(waits, c.sendPart(p, routes))
		}
		for j := range parts {
			p := &parts[j]
			replies, err := waits[j]()
			switch {
			case err == nil && len(replies.Ends) == 1 && !isNotMine(replies.Bytes):
				p.reply = bytes.Clone(replies.Bytes)
				if p.reply[0] == '-' {
					msg = string(bytes.TrimRight(p.reply[1:], "\r\n"))
				}
				through = append(through, *p)
			case err == nil, errors.Is(err, ErrNotSent), r.cmd.flags&flagWrite == 0 && !errors.Is(err, ErrTimeout):
				open = append(open, p.keys...)
			default:
				msg = "UNKNOWN The write may or may not have been made: " + err.Error()
			}
		}
		if msg != "" {
			return nil, msg
		}
		if len(open) > 0 {
			c.awaitRoutes(routes, routesPause)
			routes = c.srv.routes.Load()
		}
	}
	return through, ""
}

func addKey(parts []part, owner int32, key int) []part {
	for j := range parts {
		if parts[j].owner == owner {
			parts[j].keys = append(parts[j].keys, key)
			return parts
		}
	}
	return append(parts, part{owner: owner, keys: []int{key}})
}

// sendPart sends a part on its way; this node's own runs at once.
func (c *conn) sendPart(p *part, routes *Routes) func() (Replies, error) {
	if p.owner == ownerSelf {
		var replies Replies
		var err error
		c.srv.RunForwarded(p.bytes, 1, c.out.proto == 3, func(r Replies, e error) {
			replies, err = Replies{bytes.Clone(r.Bytes), append([]int(nil), r.Ends...)}, e
		})
		return func() (Replies, error) { return replies, err }
	}
	fail := func(err error) func() (Replies, error) {
		return func() (Replies, error) { return Replies{}, err }
	}
	link := routes.links[p.owner].Link
	if link == nil {
		return fail(ErrNotSent)
	}
	wait, err := link.Forward(p.bytes, 1, c.out.proto == 3, forwardTimeout)
	if err != nil {
		return fail(err)
	}
	return wait
}

func mergeOK(c *conn, _ []part) { c.out.ok() }

func mergeCounts(c *conn, parts []part) {
	sum := int64(0)
	for _, p := range parts {
		if len(p.reply) > 3 {
			n, _ := strconv.ParseInt(string(p.reply[1:len(p.reply)-2]), 10, 64)
			sum += n
		}
	}
	c.out.integer(sum)
}

// mergeArrays puts the elements back into the order of the keys.
func mergeArrays(c *conn, parts []part) {
	elements := make(map[int][]byte)
	count := 0
	for _, p := range parts {
		rest := p.reply
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			rest = rest[i+1:]
		}
		for _, key := range p.keys {
			n := elementLen(rest)
			elements[key] = rest[:n]
			rest = rest[n:]
			count++
		}
	}
	c.out.buf = redcon.AppendArray(c.out.buf, count)
	for i := range count {
		c.out.buf = append(c.out.buf, elements[i]...)
	}
}

// elementLen is the length of the bulk string or null that a reply begins with.
func elementLen(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i < 1 {
		return len(b)
	}
	if b[0] == '$' {
		if n, err := strconv.Atoi(string(b[1 : i-1])); err == nil && n >= 0 {
			return min(len(b), i+1+n+2)
		}
	}
	return i + 1
}
