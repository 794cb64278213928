package functions

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/glob"
	"github.com/ringside-kv/ringside/resp/script"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A Server is what FUNCTION needs of the server that runs it. Its functions are called by the goroutine of the
// call.
type Server struct {
	*Registry
	// Agree makes changes of agreed values, and waits until all nodes know them. Its error wraps
	// [agreed.ErrChanged] if none was made because of others that came first, which Registry knows by then, and
	// [agreed.ErrUnknown] if they may have been made, or not all nodes know them.
	Agree func(x *command.Call, changes []agreed.Change) error
	// Full reports whether there is no room for so many bytes of code.
	Full func(bytes int) bool
	// Kill ends the functions that run, on all nodes, and replies.
	Kill func(x *command.Call)
	// Running returns what [EncodeRunning] returns on each node; nil where no function runs.
	Running func(x *command.Call) [][]byte
}

// A Host runs the commands of this package: the server's [command.Host] has to be one.
type Host interface {
	Functions() *Server
}

// on is the handler of a subcommand.
func on(run func(*command.Call, *Server)) func(*command.Call) {
	return func(x *command.Call) { run(x, x.Host.(Host).Functions()) }
}

// loadTimeout is how long the code of a library may run when it is loaded, as in Redis.
const loadTimeout = 500 * time.Millisecond

// tries is how often a change is made anew because another one came first.
const tries = 10

// change has all nodes agree on what edit makes of the present libraries, of which it gets a copy. It replies if
// it fails.
func (s *Server) change(x *command.Call, edit func(next *Set) error) bool {
	var err error
	for range tries {
		now := s.Current()
		next := now.copy()
		if err = edit(next); err != nil {
			break
		}
		if err = s.Agree(x, difference(now, next)); !errors.Is(err, agreed.ErrChanged) {
			break
		}
	}
	if err != nil {
		fail(x, err)
	}
	return err == nil
}

// fail replies with an error, which has its code if it is one of Redis.
func fail(x *command.Call, err error) {
	msg := err.Error()
	if !strings.HasPrefix(msg, "ERR ") {
		msg = command.ErrorText(err)
	}
	x.Error(msg)
}

// difference returns the changes that make one set of another.
func difference(now, next *Set) []agreed.Change {
	changes := []agreed.Change{{Name: Guard, Body: rand.Text(), Was: now.version}} // a body that no other change has
	for _, l := range now.sorted() {
		if next.libraries[l.Name] == nil {
			changes = append(changes, agreed.Change{Name: prefix + l.Name, Remove: true, Was: l.version})
		}
	}
	for _, l := range next.sorted() {
		was := now.libraries[l.Name]
		if was == l {
			continue
		}
		c := agreed.Change{Name: prefix + l.Name, Body: l.Code, Was: now.values.Of(prefix + l.Name).Version}
		changes = append(changes, c)
	}
	return changes
}

// cmdLoad is FUNCTION LOAD [REPLACE] code.
func cmdLoad(x *command.Call, s *Server) {
	replace := false
	words := x.Args[2 : len(x.Args)-1]
	for _, word := range words {
		if !wire.EqualFold(word, "replace") {
			x.Error("ERR Unknown option given: " + string(command.Shown(word, 128)))
			return
		}
		replace = true
	}
	code, name := string(x.Args[len(x.Args)-1]), ""
	if s.Full(len(code)) {
		x.Error(command.MsgOOM)
		return
	}
	if s.change(x, func(next *Set) error {
		var body string
		var err error
		if name, body, err = parse(code); err != nil {
			return err
		}
		if was := next.libraries[name]; was != nil && replace {
			next.remove(was)
		} else if was != nil {
			return next.add(was) // it says that it exists
		}
		compiled, err := script.NewLibrary(body, int(s.memory()), loadTimeout, s.log)
		if err != nil {
			return err
		}
		return next.add(newLibrary(name, code, compiled))
	}) {
		x.BulkString(name)
	}
}

func cmdDelete(x *command.Call, s *Server) {
	name := string(x.Args[2])
	if s.change(x, func(next *Set) error {
		l := next.libraries[name]
		if l == nil {
			return errors.New("ERR Library not found")
		}
		next.remove(l)
		return nil
	}) {
		x.OK()
	}
}

func cmdFlush(x *command.Call, s *Server) {
	if len(x.Args) > 3 {
		x.WrongSubcommand("FUNCTION")
		return
	}
	if len(x.Args) == 3 && !wire.EqualFold(x.Args[2], "async") && !wire.EqualFold(x.Args[2], "sync") {
		x.Error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
		return
	}
	gone := int64(0)
	if len(s.values.Load().Under(prefix)) > 0 && !s.change(x, func(next *Set) error {
		gone = int64(len(next.functions)) + 1
		for _, l := range next.sorted() {
			next.remove(l)
		}
		return nil
	}) {
		return
	}
	if len(x.Args) == 3 && wire.EqualFold(x.Args[2], "async") {
		s.freed.Add(gone)
	}
	x.OK()
}

func cmdDump(x *command.Call, s *Server) {
	x.Bulk(appendPayload(nil, s.Current().sorted()))
}

// cmdRestore is FUNCTION RESTORE payload [FLUSH|APPEND|REPLACE].
func cmdRestore(x *command.Call, s *Server) {
	flush, replace := false, false
	switch {
	case len(x.Args) > 4:
		x.WrongSubcommand("FUNCTION")
		return
	case len(x.Args) == 3 || wire.EqualFold(x.Args[3], "append"):
	case wire.EqualFold(x.Args[3], "replace"):
		replace = true
	case wire.EqualFold(x.Args[3], "flush"):
		flush = true
	default:
		x.Error("ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.")
		return
	}
	if s.Full(len(x.Args[2])) {
		x.Error(command.MsgOOM)
		return
	}
	restored, err := s.restored(x.Args[2])
	if err != nil {
		fail(x, err)
		return
	}
	if len(restored.libraries) == 0 && !flush || s.change(x, func(next *Set) error {
		for _, l := range next.sorted() {
			switch {
			case flush || replace && restored.libraries[l.Name] != nil:
				next.remove(l)
			case restored.libraries[l.Name] != nil:
				return errors.New("ERR Library " + l.Name + " already exists")
			}
		}
		for _, l := range restored.sorted() {
			if err := next.add(l); err != nil {
				return err
			}
		}
		return nil
	}) {
		x.OK()
	}
}

// restored compiles the libraries of a payload.
func (s *Server) restored(payload []byte) (*Set, error) {
	codes, err := readPayload(payload)
	if err != nil {
		return nil, err
	}
	all := emptySet()
	end := time.Now().Add(patience)
	for _, code := range codes {
		l, err := s.load(code, max(time.Until(end), 1))
		if err == nil {
			err = all.add(l)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func cmdKill(x *command.Call, s *Server) { s.Kill(x) }

func cmdStats(x *command.Call, s *Server) {
	x.Map(2)
	x.BulkString("running_script")
	replyRunning(x, s.Running(x))
	u := s.Usage()
	x.BulkString("engines")
	x.Map(1)
	x.BulkString(engine)
	x.Map(2)
	x.BulkString("libraries_count")
	x.Int(int64(u.Libraries))
	x.BulkString("functions_count")
	x.Int(int64(u.Functions))
}

// EncodeRunning encodes a function that runs for other nodes: its name, the words of its call, and for how many
// milliseconds it has run.
func EncodeRunning(name string, words [][]byte, took time.Duration) []byte {
	b := wire.AppendBulkString(wire.AppendArray(nil, 3), name)
	b = wire.AppendArray(b, len(words))
	for _, word := range words {
		b = wire.AppendBulk(b, word)
	}
	return fmt.Appendf(b, ":%d\r\n", took.Milliseconds())
}

// replyRunning replies with the first function that runs, or null.
func replyRunning(x *command.Call, all [][]byte) {
	for _, encoded := range all {
		fields, ok := wire.ArrayBody(encoded)
		if !ok || len(fields) == 0 {
			continue
		}
		x.Map(3)
		for _, field := range []string{"name", "command", "duration_ms"} {
			n := wire.ValueLen(fields)
			x.BulkString(field)
			x.Buf = append(x.Buf, fields[:n]...)
			fields = fields[n:]
		}
		return
	}
	x.Null()
}

// cmdList is FUNCTION LIST [LIBRARYNAME pattern] [WITHCODE].
func cmdList(x *command.Call, s *Server) {
	var pattern []byte
	named, withCode := false, false
	for args := x.Args[2:]; len(args) > 0; args = args[1:] {
		switch {
		case !withCode && wire.EqualFold(args[0], "withcode"):
			withCode = true
		case !named && wire.EqualFold(args[0], "libraryname"):
			named = true
			if len(args) == 1 {
				x.Error("ERR library name argument was not given")
				return
			}
			pattern, args = args[1], args[1:]
		default:
			x.Error("ERR Unknown argument " + string(command.Shown(args[0], 128)))
			return
		}
	}
	var listed []*Library
	for _, l := range s.Current().sorted() {
		if !named || glob.Match(pattern, []byte(l.Name), true) {
			listed = append(listed, l)
		}
	}
	x.Array(len(listed))
	for _, l := range listed {
		l.describe(x, withCode)
	}
}

func (l *Library) describe(x *command.Call, withCode bool) {
	fields := 3
	if withCode {
		fields++
	}
	x.Map(fields)
	x.BulkString("library_name")
	x.BulkString(l.Name)
	x.BulkString("engine")
	x.BulkString(engine)
	x.BulkString("functions")
	x.Array(len(l.functions))
	for _, f := range l.functions {
		x.Map(3)
		x.BulkString("name")
		x.BulkString(f.Name)
		x.BulkString("description")
		if f.Description == nil {
			x.Null()
		} else {
			x.BulkString(*f.Description)
		}
		x.BulkString("flags")
		flags := f.Flags.Names()
		x.Set(len(flags))
		for _, flag := range flags {
			x.Simple(flag)
		}
	}
	if withCode {
		x.BulkString("library_code")
		x.BulkString(l.Code)
	}
}

func cmdHelp(x *command.Call) {
	command.Help(x, "FUNCTION",
		"DELETE <library>",
		"    Delete a library, on all nodes.",
		"DUMP",
		"    Return all libraries as a payload for RESTORE.",
		"FLUSH [ASYNC|SYNC]",
		"    Delete all libraries, on all nodes.",
		"KILL",
		"    End functions on all nodes. What they have written is not kept.",
		"LIST [LIBRARYNAME <pattern>] [WITHCODE]",
		"    List the libraries and their functions.",
		"LOAD [REPLACE] <code>",
		"    Have all nodes know a library.",
		"RESTORE <payload> [FLUSH|APPEND|REPLACE]",
		"    Add the libraries of a payload. FLUSH deletes all others, REPLACE those of the same",
		"    names; otherwise an existing name is an error.",
		"STATS",
		"    Tell which function runs, and how many libraries and functions there are.",
	)
}
