package keys

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// sortOptions are what SORT is asked for.
type sortOptions struct {
	by          sortPattern
	unsorted    bool // BY something that names nothing: the order is that of the collection
	get         []sortPattern
	from, count int64 // LIMIT; a negative count is no limit
	desc, alpha bool
	store       []byte // nil: the elements are the reply
	// far: patterns name keys that may lie anywhere.
	far bool
}

// parseSort returns the options, or an error reply.
func parseSort(x *command.Call, readonly bool) (o sortOptions, msg string) {
	o.count = -1
	for args := x.Args[2:]; len(args) > 0; args = args[1:] {
		left := len(args) - 1
		switch word := args[0]; {
		case wire.EqualFold(word, "asc"):
			o.desc = false
		case wire.EqualFold(word, "desc"):
			o.desc = true
		case wire.EqualFold(word, "alpha"):
			o.alpha = true
		case wire.EqualFold(word, "limit") && left >= 2:
			var ok1, ok2 bool
			o.from, ok1 = wire.ParseInt(args[1])
			o.count, ok2 = wire.ParseInt(args[2])
			if !ok1 || !ok2 {
				return o, command.MsgNotInteger
			}
			args = args[2:]
		case wire.EqualFold(word, "store") && left >= 1 && !readonly:
			o.store = args[1]
			args = args[1:]
		case wire.EqualFold(word, "by") && left >= 1:
			o.by = parseSortPattern(args[1])
			o.unsorted = o.unsorted || !o.by.names
			if msg := reaches(x, &o, &o.by, "BY"); msg != "" {
				return o, msg
			}
			args = args[1:]
		case wire.EqualFold(word, "get") && left >= 1:
			p := parseSortPattern(args[1])
			if msg := reaches(x, &o, &p, "GET"); msg != "" {
				return o, msg
			}
			o.get = append(o.get, p)
			args = args[1:]
		default:
			return o, command.MsgSyntax
		}
	}
	return o, ""
}

// reaches returns an error reply if a pattern may name keys that are not this node's. Redis
// Cluster says the same of all that name keys, and of GET #.
func reaches(x *command.Call, o *sortOptions, p *sortPattern, option string) string {
	if !p.names || p.near(x.Unit, x.Args[1]) {
		return ""
	}
	if !x.Host.ReachesAll() {
		return "ERR " + option + " option of SORT denied in Cluster mode when keys formed by the pattern may be in different slots."
	}
	o.far = true
	return ""
}
