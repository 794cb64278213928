package client

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ringside-kv/ringside/resp/wire"
)

// commands are what a server says of its commands: which arguments are keys, and what a
// command does. What it does not mention is taken for a write of the key that is its
// first argument; a command without keys may go to any node.
type commands map[string]*command

// A command is one row of COMMAND.
type command struct {
	reads    bool // changes nothing: it may be repeated
	blocks   bool // may wait for others' writes
	unshared bool
	// scripted: it runs a script, so an error reply may be the script's own text. It proves
	// neither that the command was not executed, nor that another node serves its keys.
	scripted bool
	split    *rule // nil if it cannot be
	// The keys are the arguments from first to last, which counts from the end if it
	// is negative, each step-th. No first is no keys.
	first, last, step int
	specs             []keySpec // instead, where that does not say enough
	subs              commands
}

// A KeySpec says where some keys of a command are.
type keySpec struct {
	index   int    // of the argument where they begin, or of the number of keys
	keyword string // behind which they begin, if it is there
	from    int    // where to look for the keyword
	count   bool   // the keys are as many as the argument at index says
	first   int    // with count: where they begin, counted from it
}

// unknownCommand is what a command is taken for that the server does not mention.
var unknownCommand = &command{first: 1, last: 1, step: 1}

// A rule is how a command is split whose keys lie at several nodes.
type rule struct {
	step  int // arguments to a key
	merge func(n int, parts []part) Reply
}

// builtin is what the client itself knows of some commands, whatever the server says.
var builtin = func() commands {
	all := make(commands)
	for name, r := range map[string]*rule{
		"mget": {1, mergeLists}, "mset": {2, mergeOK}, "del": {1, mergeSums},
		"unlink": {1, mergeSums}, "exists": {1, mergeSums}, "touch": {1, mergeSums},
	} {
		all[name] = &command{first: 1, last: -1, step: r.step, split: r}
	}
	for _, name := range []string{"eval", "evalsha", "fcall"} {
		keys := []keySpec{{index: 2, count: true, first: 1}}
		all[name] = &command{scripted: true, specs: keys}
		all[name+"_ro"] = &command{scripted: true, reads: true, specs: keys}
	}
	for _, name := range []string{"ping", "echo", "time", "info", "loadlevels"} {
		all[name] = &command{reads: true}
	}
	// They wait, also when the user may not run COMMAND, which would tell.
	for _, name := range strings.Fields("blmove blmpop blpop brpop brpoplpush bzmpop bzpopmax bzpopmin wait waitaof") {
		all[name] = &command{blocks: true}
	}
	for name, from := range map[string]int{"xread": 1, "xreadgroup": 4} {
		all[name] = &command{blocks: true, reads: name == "xread", specs: []keySpec{{keyword: "STREAMS", from: from}}}
	}
	// They change what others get who share the connection.
	for _, name := range strings.Fields("auth asking discard exec hello monitor multi psubscribe psync punsubscribe" +
		" quit readonly readwrite replconf reset select ssubscribe subscribe sunsubscribe sync unsubscribe unwatch watch") {
		all[name] = &command{unshared: true}
	}
	for name, subs := range map[string]string{
		"client":   "caching maint_notifications no-evict no-touch reply setinfo setname tracking",
		"hashmask": "subscribe", "ring": "ack atomic route", "script": "debug",
	} {
		all[name] = &command{subs: make(commands)}
		for _, sub := range strings.Fields(subs) {
			all[name].subs[sub] = &command{unshared: true}
		}
	}
	return all
}()

// parseCommands reads the reply to COMMAND. What it does not understand it leaves out.
func parseCommands(r Reply) commands {
	all := make(commands, len(r.elems)+len(builtin))
	for i := range r.elems {
		if name, c := parseCommand(&r.elems[i]); c != nil {
			all[name] = c
		}
	}
	all.add(builtin)
	return all
}

// add puts what the client knows over what the server says.
func (c commands) add(more commands) {
	for name, own := range more {
		told := c[name]
		if told == nil {
			c[name] = own
			continue
		}
		told.split, told.unshared, told.scripted = own.split, own.unshared, own.scripted
		told.reads, told.blocks = told.reads || own.reads, told.blocks || own.blocks
		if told.subs == nil && own.subs != nil {
			told.subs = make(commands)
		}
		told.subs.add(own.subs)
	}
}

func parseCommand(r *Reply) (name string, c *command) {
	fields := r.elems
	if len(fields) < 6 {
		return "", nil
	}
	name = strings.ToLower(string(fields[0].text))
	name = name[strings.IndexByte(name, '|')+1:]
	c = &command{
		first: int(fields[3].n), last: int(fields[4].n), step: max(1, int(fields[5].n)),
	}
	movable := false
	for i := range fields[2].elems {
		switch string(fields[2].elems[i].text) {
		case "readonly":
			c.reads = true
		case "blocking":
			c.blocks = true
		case "movablekeys":
			movable = true
		}
	}
	if len(fields) > 8 && movable {
		c.specs = parseKeySpecs(fields[8].elems)
	}
	if len(fields) > 9 && len(fields[9].elems) > 0 {
		c.subs = make(commands)
		for i := range fields[9].elems {
			if name, sub := parseCommand(&fields[9].elems[i]); sub != nil {
				c.subs[name] = sub
			}
		}
	}
	return name, c
}

func parseKeySpecs(specs []Reply) []keySpec {
	var all []keySpec
	for i := range specs {
		spec, err := specs[i].Map()
		if err != nil {
			continue
		}
		begin, err1 := field(spec, "begin_search")
		find, err2 := field(spec, "find_keys")
		if err1 != nil || err2 != nil {
			continue
		}
		k := keySpec{}
		switch by, _ := begin["type"].Text(); by {
		case "index":
			at, _ := field(begin, "spec")
			n, _ := at["index"].Int()
			k.index = int(n)
		case "keyword":
			at, _ := field(begin, "spec")
			k.keyword, _ = at["keyword"].Text()
			n, _ := at["startfrom"].Int()
			k.from = int(n)
		default:
			continue
		}
		if by, _ := find["type"].Text(); by == "keynum" {
			at, _ := field(find, "spec")
			index, _ := at["keynumidx"].Int()
			first, _ := at["firstkey"].Int()
			k.count, k.index, k.first = true, k.index+int(index), int(first-index)
		}
		all = append(all, k)
	}
	return all
}

func field(m map[string]Reply, name string) (map[string]Reply, error) { return m[name].Map() }

// admit finds a command, if it can share a connection with others.
func (c commands) admit(l *line) (*command, error) {
	if l.args() == 0 || len(l.arg(0)) == 0 {
		return nil, errNothing
	}
	cmd := c.of(l)
	return cmd, cmd.refusal(l)
}

// of finds a command by its first words.
func (c commands) of(l *line) *command {
	var short [32]byte
	known := c[string(appendLower(short[:0], l.arg(0)))]
	if known == nil {
		return unknownCommand
	}
	if len(known.subs) > 0 && l.args() > 1 {
		if sub := known.subs[string(appendLower(short[:0], l.arg(1)))]; sub != nil {
			return sub
		}
	}
	return known
}

func appendLower(b, s []byte) []byte {
	for _, c := range s {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// key is the place of the first key among the arguments, 0 if there is none.
func (c *command) key(l *line) int {
	for i := range c.specs {
		if at := c.specs[i].key(l); at > 0 && at < l.args() {
			return at
		}
	}
	if c.specs == nil && c.first < l.args() {
		return c.first
	}
	return 0
}

func (s *keySpec) key(l *line) int {
	at := s.index
	if s.keyword != "" {
		found := s.after(l)
		if found == 0 {
			return 0
		}
		at += found
	}
	if !s.count {
		return at
	}
	if at >= l.args() {
		return 0
	}
	if n, ok := wire.ParseInt(l.arg(at)); !ok || n < 1 {
		return 0
	}
	return at + s.first
}

// after is the place behind the keyword, 0 if it is not there.
func (s *keySpec) after(l *line) int {
	from, step := s.from, 1
	if from < 0 {
		from, step = l.args()+from, -1
	}
	for i := from; i > 0 && i < l.args(); i += step {
		if bytes.EqualFold(l.arg(i), []byte(s.keyword)) {
			return i + 1
		}
	}
	return 0
}

// refusal is why a command cannot share a connection with others; nil if it can.
func (c *command) refusal(l *line) error {
	waits := c.blocks
	if name := l.arg(0); waits && len(name) > 0 && (name[0] == 'x' || name[0] == 'X') {
		waits = readBlocks(l)
	}
	if waits || c.unshared {
		return notSent(fmt.Errorf("%w: %s", ErrUnshared, clip(l.arg(0))))
	}
	return nil
}

// readBlocks reports whether XREAD or XREADGROUP has the option BLOCK, without which they do not wait. A key, a group or a
// consumer may have the name of an option.
func readBlocks(l *line) bool {
	for i := 1; i < l.args(); i++ {
		switch word := l.arg(i); {
		case bytes.EqualFold(word, []byte("block")):
			return true
		case bytes.EqualFold(word, []byte("streams")):
			return false
		case bytes.EqualFold(word, []byte("count")), bytes.EqualFold(word, []byte("claim")):
			i++
		case bytes.EqualFold(word, []byte("group")):
			i += 2
		}
	}
	return false
}
