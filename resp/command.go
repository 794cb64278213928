package resp

import "github.com/ringside-kv/ringside/resp/wire"

// A command is one row of the command table. Dispatch, COMMAND, INFO
// commandstats, routing and access rules are all derived from it. What COMMAND DOCS
// returns beside that lies in docs/*.json, see [commandDoc].
//
// Rows are made once, at start-up, and never change afterwards, so any
// goroutine may read them.
type command struct {
	name  string // lower case; of a subcommand only its own word
	arity int    // number of words with the name(s); -n means n or more
	flags cmdFlag
	keys  []keySpec // where its keys lie among the arguments
	group string    // as COMMAND DOCS calls it: "string", "generic", "server", …

	tips []string // COMMAND INFO, hints for proxies and clients

	subs []*command // CLIENT LIST and its like
	// refusal is the reply of a command of Redis that is only known to say why it is not
	// there; run is nil then.
	refusal string
	run     func(*Call)

	waits  bool // for something other than its own work: earlier replies leave first
	script bool // EVAL and its like
	// between: only nodes may send it.
	between bool
	spread  bool // covers the cluster: every node does a part of it
	// merge says how the replies of the parts are joined of a command that is split where its
	// keys lie at several nodes.
	merge mergeKind
	// forNodes: nodes forward it. Others would change the state of a connection that
	// many clients' requests go by, or wait on it. It is also set for what is keyed, spread,
	// neutral, between or publishes.
	forNodes bool
	// frees: it only removes, and the few bytes that it may write let something be removed
	// later. It is taken while the disk is almost full.
	frees bool
	// quick: it takes no longer than to pass its arguments and reply on. It is also set for
	// what is flagFast, and never for what is flagBlocking.
	quick bool
	// publishes: it sends a message. subscribes: it begins or ends a subscription.
	publishes, subscribes bool
	// outlivesDeadline: a node runs it also when the node that forwards it has given it up. It
	// brings news to clients, which undo nothing and are better late than lost.
	outlivesDeadline bool
	protected        bool // a setting says who may send it
	// whileSubscribed: clients of RESP2 may send it while they have subscriptions.
	whileSubscribed bool
	neutral         bool // may run inside a unit, having no keys: touches only its reply
	unkeyed         bool // its keys do not decide which node runs it
	keysOfExec      bool // its keys are those of the commands of a transaction, which it runs

	// Set when the table is built.

	// mayWrite: it is a write, or a script, which may be one.
	mayWrite bool
	// latched: it needs the latches of its keys whatever it does with them.
	latched bool
	// within, if set, finds the keys that keys does not tell of.
	within func(args [][]byte, dst []keyRef) ([]keyRef, error)
	// as is the command whose work this one does, for statistics.
	as    *command
	keyed bool // some of its arguments are, or may be, keys

	id     int      // dense index, for statistics
	full   string   // "client|list" for a subcommand, else the name
	parent *command // of a subcommand
	acl    []string // categories with their @, derived from flags and group
}

// A mergeKind is how replies of several nodes become one.
type mergeKind byte

const (
	mergeNone   mergeKind = iota // the command is not split
	mergeOK                      // OK, if all parts were made
	mergeCounts                  // the sum of the parts' numbers
	mergeArrays                  // the elements of the parts, in the order of the keys
)

// cmdFlag is a set of properties, by the names COMMAND INFO shows.
type cmdFlag uint32

// The flags of Redis 7.0, in the order in which COMMAND INFO lists them.
const (
	flagWrite cmdFlag = 1 << iota
	flagReadonly
	flagDenyOOM
	flagModule
	flagAdmin
	flagPubSub
	flagNoScript
	flagBlocking
	flagLoading
	flagStale
	flagSkipMonitor
	flagSkipSlowlog
	flagAsking
	flagFast
	flagNoAuth
	flagNoMandatoryKeys
	flagNoAsyncLoading
	flagNoMulti
	flagMovableKeys // derived from the key specs
	flagAllowBusy

	// Not shown: Redis may replicate it, so that CLIENT PAUSE WRITE holds it back.
	flagMayReplicate

	// Not shown: they correct what is derived from the group and other flags.
	flagContainer  // has subcommands only, so the group gives no ACL category
	flagDangerous  // also in the ACL category @dangerous
	flagAsAdmin    // also in @admin and @dangerous, though not flagAdmin
	flagKeyspace   // also in @keyspace, though of another group
	flagConnection // in @connection instead of its group's category
	flagSorts      // in @set, @sortedset and @list instead of its group's category
	flagSystem     // COMMAND DOCS says syscmd: not for applications
)

// A keySpec says where a command finds some of its keys (Redis 7 key
// specifications): begin at an index or after a keyword, then either a range of
// arguments or a count followed by that many keys.
type keySpec struct {
	flags   string // as COMMAND INFO shows them: "RW access update"
	notes   string
	index   int    // begin search by index; 0 when keyword is used
	keyword string // begin search after this word …
	from    int    // … looked for from this argument on (negative: from the end)
	last    int    // range: last key relative to the first; -1 the last argument
	step    int    // range: distance between keys
	limit   int    // range: with last -1, 0 or 1 all, n: 1/n of the arguments
	keynum  bool   // count before keys instead of range
	numIdx  int    // keynum: position of the count relative to begin
	first   int    // keynum: first key relative to begin
	unknown bool   // found only by code (SORT's STORE and its like)
	// find is that code: it tells the position of the one key, 0 if there is none.
	find func(args [][]byte) int
	// optional: a call may have none of these keys (the sources of PFMERGE).
	optional bool
	// vary tells the flags of one call, where flags has variable_flags.
	vary func(args [][]byte) string

	// Set when the table is built, from flags.
	write  bool // the command may change or delete the key
	notKey bool // not the name of a key but, say, of a channel
}

// mayWait reports whether a call may wait until one of its keys gets something.
func (c *command) mayWait(args [][]byte) bool {
	if c.flags&flagBlocking == 0 || len(c.keys) == 0 {
		return false
	}
	if c.group != "stream" {
		return true
	}
	for _, arg := range args[1:] {
		if wire.EqualFold(arg, "streams") {
			return false
		}
		if wire.EqualFold(arg, "block") {
			return true
		}
	}
	return false
}
