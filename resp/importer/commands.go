package importer

import (
	"context"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/client"
)

// A keyFinder finds the keys of commands in the stream of a source, by what the source says of its
// commands. So it knows those of every version, and of modules.
type keyFinder struct {
	source *client.Ring
	most   patience
	known  map[string]*keyRange // by name, or name|subcommand
}

// A keyRange says which arguments of a command are keys.
type keyRange struct {
	first, last, step int  // first 0: none
	movable           bool // the source finds them
	container         bool // its subcommands have rows of their own
}

// learn asks the source for its commands.
func (k *keyFinder) learn(ctx context.Context) error {
	k.known = make(map[string]*keyRange)
	reply, err := must(ctx, k.source, k.most.most, []byte("COMMAND"))
	if err != nil && judge(ctx, err) != lost {
		return err
	}
	rows, err := reply.List()
	if err != nil {
		return nil // a source before 2.8.13: see find
	}
	for _, row := range rows {
		k.learnRow(row)
	}
	return nil
}

func (k *keyFinder) learnRow(row client.Reply) {
	facts, _ := row.List()
	if len(facts) < 6 {
		return
	}
	name, _ := facts[0].Text()
	c := new(keyRange)
	for i, into := range []*int{&c.first, &c.last, &c.step} {
		n, _ := facts[3+i].Int()
		*into = int(n)
	}
	flags, _ := facts[2].Texts()
	for _, flag := range flags {
		c.movable = c.movable || flag == "movablekeys"
	}
	if len(facts) > 9 {
		subs, _ := facts[9].List()
		for _, sub := range subs {
			c.container = true
			k.learnRow(sub)
		}
	}
	k.known[strings.ToLower(name)] = c
}

// find returns the keys of a command, which it does not keep.
func (k *keyFinder) find(ctx context.Context, args [][]byte) ([][]byte, error) {
	name := strings.ToLower(string(args[0]))
	c := k.known[name]
	if c != nil && c.container && len(args) > 1 {
		c = k.known[name+"|"+strings.ToLower(string(args[1]))]
	}
	switch {
	case c == nil && len(k.known) == 0 && len(args) > 1:
		return args[1:2], nil
	case numbered[name]:
		return numberedKeys(args), nil
	case c == nil || c.movable:
		return k.ask(ctx, args)
	case c.first <= 0 || c.first >= len(args):
		return nil, nil
	}
	last := c.last
	if last < 0 {
		last += len(args)
	}
	var keys [][]byte
	for i := c.first; i <= min(last, len(args)-1); i += max(1, c.step) {
		keys = append(keys, args[i])
	}
	return keys, nil
}

// numbered are commands whose second argument says how many keys follow it. A source is not asked for their keys, since
// their arguments may be long.
var numbered = map[string]bool{"eval": true, "evalsha": true, "eval_ro": true, "evalsha_ro": true, "fcall": true, "fcall_ro": true}

func numberedKeys(args [][]byte) [][]byte {
	if len(args) < 3 {
		return nil
	}
	n, err := strconv.Atoi(string(args[2]))
	if err != nil || n < 0 || n > len(args)-3 {
		return nil
	}
	return args[3 : 3+n]
}

// ask has the source find the keys.
func (k *keyFinder) ask(ctx context.Context, args [][]byte) ([][]byte, error) {
	reply, err := must(ctx, k.source, k.most.most, append([][]byte{[]byte("COMMAND"), []byte("GETKEYS")}, args...)...)
	if err != nil {
		if judge(ctx, err) == lost { // it has none
			return nil, nil
		}
		return nil, err
	}
	texts, err := reply.Texts()
	if err != nil {
		return nil, err
	}
	keys := make([][]byte, len(texts))
	for i, text := range texts {
		keys[i] = []byte(text)
	}
	return keys, nil
}

// otherDatabase returns the number of the database that COPY or MOVE name.
func otherDatabase(name string, args [][]byte) (n int, ok bool) {
	switch name {
	case "move":
		if len(args) == 3 {
			n, err := strconv.Atoi(string(args[2]))
			return n, err == nil
		}
	case "copy":
		for i := 3; i+1 < len(args); i++ {
			if strings.EqualFold(string(args[i]), "db") {
				n, err := strconv.Atoi(string(args[i+1]))
				return n, err == nil
			}
		}
	}
	return 0, false
}
