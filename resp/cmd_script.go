package resp

import (
	"bytes"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/outcome"
	"github.com/ringside-kv/ringside/resp/wire"
)

// SCRIPT, over the cluster: a script that one node knows is known to all. Scripts that are
// loaded are sent to every node; who does not know one asks the others, and who forwards
// EVALSHA sends the script along.

// scriptTimeout is how long other nodes are waited for.
const scriptTimeout = 2 * time.Second

func cmdScriptLoad(x *call) {
	known, err := x.srv.scripts.Compile(x.Args[2], true)
	if err != nil {
		x.Error(err.Error())
		return
	}
	x.nodes("LOAD", x.Args[2]) // who does not hear of it asks
	x.BulkString(known.SHA)
}

func cmdScriptExists(x *call) {
	shas := x.Args[2:]
	exist := make([]bool, len(shas))
	for i, sha := range shas {
		exist[i] = x.srv.scripts.Called(sha) != nil || len(sha) == 40 && x.conn.seekSHA(sha)
	}
	x.Array(len(shas))
	for _, e := range exist {
		x.Bool(e)
	}
}

func cmdScriptFlush(x *call) {
	if len(x.Args) > 3 || len(x.Args) == 3 && !wire.EqualFold(x.Args[2], "sync") && !wire.EqualFold(x.Args[2], "async") {
		x.Error("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
		return
	}
	x.srv.scripts.Flush()
	o := outcome.Outcome{Made: 1}
	for _, a := range x.nodes("FLUSH") {
		if o.Add(outcome.WriteFate(a.err), a.Writer, a.status, a.err) {
			o.Refuse("a node could not be reached and may still know the scripts")
		}
	}
	if msg := o.Msg(true); msg != "" {
		x.Error(msg)
		return
	}
	x.OK()
}

func cmdScriptKill(x *call) { killScripts(x, "KILL", false) }

// killScripts ends the scripts or the functions of all nodes, and replies.
func killScripts(x *call, word string, functions bool) {
	msg := x.srv.scripts.Kill(functions)
	for _, a := range x.nodes(word) {
		switch {
		case a.err != nil || msg == "":
		case a.Writer[0] == '+':
			msg = ""
		case bytes.HasPrefix(a.Writer, []byte("-BUSY")):
			msg = string(bytes.TrimRight(a.Writer[1:], "\r\n"))
		}
	}
	if msg != "" {
		x.Error(msg)
		return
	}
	x.OK()
}

func cmdScriptDebug(x *call) {
	if wire.EqualFold(x.Args[2], "no") {
		x.OK()
		return
	}
	x.Error("ERR SCRIPT DEBUG: there is no debugger here")
}

// cmdRingScript is this node's part of SCRIPT.
func cmdRingScript(x *call) {
	s := &x.srv.scripts
	switch word := strings.ToLower(string(x.Args[2])); {
	case word == "get" && len(x.Args) == 4:
		if known := s.Called(x.Args[3]); known != nil {
			x.BulkString(known.Body)
		} else {
			x.Null()
		}
	case word == "load" && len(x.Args) == 4:
		if _, err := s.Compile(x.Args[3], true); err != nil {
			x.Error(err.Error())
			return
		}
		x.OK()
	case word == "flush":
		s.Flush()
		x.OK()
	case word == "kill" || word == "kill-functions":
		if msg := s.Kill(word != "kill"); msg != "" {
			x.Error(msg)
			return
		}
		x.OK()
	case word == "running":
		if reply := runningFunction(x.srv); reply != nil {
			x.Buf = append(x.Buf, reply...)
		} else {
			x.Null()
		}
	case word == "functions" && len(x.Args) == 4:
		cmdRingFunctions(x)
	default:
		x.Error(command.MsgSyntax)
	}
}

// An answer is what a node has answered to one request.
type answer struct {
	Writer []byte // empty with an error
	status Status
	err    error
}

// nodes has all other nodes that serve ranges do their part.
func (x *call) nodes(word string, args ...[]byte) []answer {
	start := x.srv.clock()
	defer func() { x.waited += x.srv.clock() - start }()
	return x.conn.askScripts(word, args...)
}

func (c *conn) askScripts(word string, args ...[]byte) []answer {
	routes := c.srv.routes.Load()
	if routes == nil || c.from != nil {
		return nil
	}
	question := wire.SubRequest("RING", "SCRIPT", append([][]byte{[]byte(word)}, args...)...)
	batches := make([]batch, len(routes.links))
	for i, link := range routes.links {
		batches[i] = batch{link: link, bytes: question, requests: 1}
		batches[i].send(Terms{}, min(scriptTimeout, c.srv.forwardTimeout()), nil)
	}
	answers := make([]answer, len(batches))
	for i := range batches {
		reply, err := batches[i].reply()
		answers[i] = answer{bytes.Clone(reply), batches[i].status, err}
	}
	return answers
}

// seeks tells whether a request is for a script that is not known here, and that others have
// not been asked for.
func (c *conn) seeks(r *request) bool {
	if r.cmd == nil || !r.cmd.Script || r.sought || c.from != nil {
		return false
	}
	sha := c.shaOf(r)
	routes := c.srv.routes.Load()
	return len(sha) == 40 && routes != nil && len(routes.links) > 0 && c.srv.scripts.Called(sha) == nil
}

// seek asks other nodes for the script of a request. It returns false if the client is gone.
func (c *conn) seek(r *request) bool {
	r.sought = true
	if c.flush() != nil {
		c.closing = true
		return false
	}
	c.seekSHA(c.shaOf(r))
	return true
}

// seekSHA asks other nodes for a script, and reports whether it is known now.
func (c *conn) seekSHA(sha []byte) bool {
	for _, a := range c.askScripts("GET", sha) {
		if body, ok := wire.ReplyText(a.Writer); ok {
			if known, err := c.srv.scripts.Compile(body, true); err == nil && wire.EqualFold(sha, known.SHA) {
				return true
			}
		}
	}
	return false
}

// words are the arguments of a request as another node is to have them: with the script for
// its SHA-1, if it is known here.
func (c *conn) words(r *request) [][]byte {
	args := c.args[r.first:r.last]
	if r.atCopy {
		args = append([][]byte{[]byte(r.cmd.Name)}, args[1:]...)
	}
	sha := c.shaOf(r)
	if sha == nil || c.from != nil {
		return args
	}
	known := c.srv.scripts.Called(sha)
	if known == nil {
		return args
	}
	name := "EVAL"
	if r.cmd.Flags&command.FlagReadonly != 0 {
		name = "EVAL_RO"
	}
	return append([][]byte{[]byte(name), []byte(known.Body)}, args[2:]...)
}

// wire is a request as it is sent to another node.
func (c *conn) wire(r *request) []byte {
	as := namesUser(c, r)
	if !r.stored && !as && !r.atCopy && (r.cmd == nil || !r.cmd.Script || c.shaOf(r) == nil) {
		return r.raw
	}
	args := c.words(r)
	var b []byte
	if as {
		b = appendAs(wire.AppendArray(b, asWords+len(args)), c.session.userName())
	} else {
		b = wire.AppendArray(b, len(args))
	}
	for _, arg := range args {
		b = wire.AppendBulk(b, arg)
	}
	return b
}

// shaOf is the script that a request names by its SHA-1.
func (c *conn) shaOf(r *request) []byte {
	if r.msg != "" || !r.cmd.BySHA {
		return nil
	}
	return c.args[r.first+1]
}
