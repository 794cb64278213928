package workload

import (
	"slices"
	"strconv"
	"strings"
)

// What stands for something in the commands of a mix, in memtier_benchmark's words.
const (
	keyWord   = "__key__"
	valueWord = "__data__"
)

// Bounds of a mix.
const (
	maxMixLen    = 16 << 10
	maxMixWeight = 1_000_000
	maxMixKeys   = 1000
)

// A Mix is commands, and how often each comes.
type Mix struct {
	Commands []Command
	total    int64 // of all weights
}

// A Command is one of a mix.
type Command struct {
	// Name is the command's, in capitals.
	Name string
	// Weight is how often it comes, in proportion to all.
	Weight int64
	// Keys is how many keys it has.
	Keys int
	// Writes tells that it changes something.
	Writes bool
	// Plain tells that its arguments are the common ones of its name: keys, each with a
	// value where the command takes values.
	Plain bool
	args  []arg
	sets  bool // a plain SET of one key: it may get a time to live
}

// An arg is a word as it is, or what stands for something.
type arg struct {
	text string
	kind argKind
}

type argKind uint8

const (
	literal argKind = iota
	aKey
	aValue
)

// forms are the arguments of commands that are named alone.
var forms = map[string]string{
	"GET":    keyWord,
	"SET":    keyWord + " " + valueWord,
	"INCR":   keyWord,
	"DEL":    keyWord,
	"UNLINK": keyWord,
	"EXISTS": keyWord,
	"STRLEN": keyWord,
	"TTL":    keyWord,
	"APPEND": keyWord + " " + valueWord,
	"GETSET": keyWord + " " + valueWord,
	"SETNX":  keyWord + " " + valueWord,
	"PING":   "",
}

// many are commands that are named with a number of keys: what each key comes with.
var many = map[string]string{
	"MGET": keyWord, "MSET": keyWord + " " + valueWord,
	"DEL": keyWord, "UNLINK": keyWord, "EXISTS": keyWord, "TOUCH": keyWord,
}

// reading are commands that change nothing; of others it is believed that they do.
var reading = []string{
	"GET", "MGET", "EXISTS", "STRLEN", "TTL", "PTTL", "TYPE", "GETRANGE", "GETBIT", "BITCOUNT", "BITPOS", "DUMP", "PING", "ECHO",
	"TOUCH", "HGET", "HMGET", "HGETALL", "HLEN", "HEXISTS", "HKEYS", "HVALS", "HSTRLEN", "LRANGE", "LLEN", "LINDEX",
	"SMEMBERS", "SISMEMBER", "SMISMEMBER", "SCARD", "SRANDMEMBER", "ZRANGE", "ZSCORE", "ZMSCORE", "ZCARD", "ZRANK", "ZCOUNT",
	"XRANGE", "XLEN", "PFCOUNT", "GEOPOS", "GEODIST", "SCAN", "DBSIZE", "RANDOMKEY",
}

// ParseMix reads commands, each behind how often it comes, with semicolons between them:
//
//	80 get; 20 set                       four reads to a write
//	5 mget 10                            of ten keys
//	1 hset __key__ field __data__        any other command: __key__ stands for a key
//	                                     and __data__ for a value
//
// The common commands of one key need no arguments: get, set, incr, del, unlink, exists,
// strlen, ttl, append, getset, setnx; ping has none. The common ones of many keys have
// their number: mget, mset, del, unlink, exists, touch. The error wraps [ErrMix].
func ParseMix(text string) (Mix, error) {
	if len(text) > maxMixLen {
		return Mix{}, Fault(ErrMix, maxMixLen, "it is longer than %d bytes", maxMixLen)
	}
	var m Mix
	for words := range Parts(text) {
		c, err := parseCommand(words)
		if err != nil {
			return Mix{}, err
		}
		m.Commands = append(m.Commands, c)
		m.total += c.Weight
	}
	if len(m.Commands) == 0 {
		return Mix{}, Fault(ErrMix, 1, "it is empty")
	}
	return m, nil
}

func parseCommand(words []Word) (Command, error) {
	weight, err := words[0].Int(ErrMix, 1, maxMixWeight)
	if err != nil {
		return Command{}, err
	}
	if len(words) == 1 {
		return Command{}, words[0].Fault(ErrMix, "a command is missing behind its weight, as in 80 get")
	}
	name := strings.ToUpper(words[1].Text)
	c := Command{Name: name, Weight: weight, Writes: !slices.Contains(reading, name)}
	rest := words[2:]
	switch each, ok := many[name]; {
	case len(rest) == 1 && ok && rest[0].Text != keyWord:
		n, err := rest[0].Int(ErrMix, 1, maxMixKeys)
		if err != nil {
			return Command{}, err
		}
		for range n {
			c.add(Words(each, 1))
		}
	case len(rest) > 0:
		c.add(rest)
	default:
		form, known := forms[name]
		if !known {
			return Command{}, words[1].Fault(ErrMix, "%.40q needs arguments: %s stands for a key, %s for a value", words[1].Text, keyWord, valueWord)
		}
		c.add(Words(form, 1))
	}
	c.Plain = c.plain()
	c.sets = name == "SET" && c.Plain
	return c, nil
}

func (c *Command) add(words []Word) {
	for _, w := range words {
		a := arg{text: w.Text}
		switch w.Text {
		case keyWord:
			a.kind = aKey
			c.Keys++
		case valueWord:
			a.kind = aValue
		}
		c.args = append(c.args, a)
	}
}

// plain reports whether all arguments are what each key of such a command comes with.
func (c *Command) plain() bool {
	each, several := many[c.Name]
	if several && c.Keys > 0 {
		return c.text() == strings.TrimSuffix(strings.Repeat(each+" ", c.Keys), " ")
	}
	form, ok := forms[c.Name]
	return ok && c.text() == form
}

// String is the command as it was written, but for its weight.
func (c *Command) String() string {
	if c.Keys > 1 && c.Plain {
		return c.Name + " " + strconv.Itoa(c.Keys)
	}
	form, ok := forms[c.Name]
	if text := c.text(); text != "" && !(ok && text == form) {
		return c.Name + " " + text
	}
	return c.Name
}

func (c *Command) text() string {
	words := make([]string, len(c.args))
	for i, a := range c.args {
		words[i] = a.text
	}
	return strings.Join(words, " ")
}

// pick is the command that a number below total stands for.
func (m *Mix) pick(n int64) int {
	for i := range m.Commands {
		if n -= m.Commands[i].Weight; n < 0 {
			return i
		}
	}
	return len(m.Commands) - 1
}
