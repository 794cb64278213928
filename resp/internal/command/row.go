package command

// A Row is one row of the command table. Dispatch, COMMAND, INFO
// commandstats, routing and access rules are all derived from it. What COMMAND DOCS
// returns beside that lies in docs/*.json, see [Doc].
//
// Rows are made once, at start-up, and never change afterwards, so any
// goroutine may read them.
type Row struct {
	Name  string // lower case; of a subcommand only its own word
	Arity int    // number of words with the name(s); -n means n or more
	Flags Flag
	Keys  []KeySpec // where its keys lie among the arguments
	Group string    // as COMMAND DOCS calls it: "string", "generic", "server", …

	Tips []string // COMMAND INFO, hints for proxies and clients

	Subs []*Row // CLIENT LIST and its like
	// Refusal is the reply of a command of Redis that is only known to say why it is not
	// there; run is nil then.
	Refusal string
	Run     func(*Call)

	Waits  bool // for something other than its own work: earlier replies leave first
	Script bool // EVAL and its like
	// Between: only nodes may send it.
	Between bool
	Spread  bool // covers the cluster: every node does a part of it
	// Merge says how the replies of the parts are joined of a command that is split where its
	// keys lie at several nodes.
	Merge mergeKind
	// ForNodes: nodes forward it. Others would change the state of a connection that
	// many clients' requests go by, or wait on it. It is also set for what is keyed, spread,
	// neutral, between or publishes.
	ForNodes bool
	// Frees: it only removes, and what it may write, an expiry with the value that has it, lets
	// something be removed later. It is taken while the disk is almost full.
	Frees bool
	// Quick: it takes no longer than to pass its arguments and reply on. It is also set for
	// what is FlagFast, and never for what is FlagBlocking.
	Quick bool
	// Publishes: it sends a message. subscribes: it begins or ends a subscription.
	Publishes, Subscribes bool
	// OutlivesDeadline: a node runs it also when the node that forwards it has given it up. It
	// brings news to clients, which undo nothing and are better late than lost.
	OutlivesDeadline bool
	Protected        bool // a setting says who may send it
	// WhileSubscribed: clients of RESP2 may send it while they have subscriptions.
	WhileSubscribed bool
	Neutral         bool // may run inside a unit, having no keys: touches only its reply
	Unkeyed         bool // its keys do not decide which node runs it
	// Hide, if set, calls hide for arguments that are passwords, or names that go with them.
	Hide func(args [][]byte, hide func(from, to int))
	// InMulti says what becomes of it while a transaction is open.
	InMulti multiRule
	// BySHA: its first argument is the SHA-1 of a script.
	BySHA bool
	// CallsFunction: its first argument is the name of a function.
	CallsFunction bool
	// Moves: it moves a key to another database, that of its fourth word.
	Moves bool
	// AsksNodes: it asks other nodes, where there are some, though it is not split over them.
	AsksNodes bool
	// CutsMulti: in a transaction, what is queued before it has run, and what is queued behind it has not. It is
	// also so for what is spread, or sets the protocol.
	CutsMulti bool
	// SetsProtocol: it chooses the protocol of its reply and of those behind it.
	SetsProtocol bool
	// TellsSubscribed: its reply in RESP2 depends on whether the client has subscriptions.
	TellsSubscribed bool
	// BlockOption: it waits only if it is called with BLOCK.
	BlockOption bool
	// AboutClients: no pause holds it back, and CLIENT CACHING stays in force behind it. A
	// container has it for its subcommands.
	AboutClients bool
	// NoMissEvent: a key that it does not find is not an event. Also for its subcommands.
	NoMissEvent bool
	// OtherDatabase tells which argument is the number of another database, in which the last of its
	// keys lies; 0 if none is.
	OtherDatabase func(args [][]byte) int
	// IsOnKey, if set, reports whether a call is of a subcommand on a key, its third word, though Redis' table has neither
	// subcommands nor keys of the command. The owner of the key runs it, as the subcommand of RING of the same name: see
	// [Table.StoredKeys].
	IsOnKey    func(args [][]byte) bool
	KeysOfExec bool // its keys are those of the commands of a transaction, which it runs
	Rehomes    bool // its keys may be of any form: it is about keys that move within their database

	// Set when the table is built.

	// MayWrite: it is a write, or a script, which may be one.
	MayWrite bool
	// Latched: it needs the latches of its keys whatever it does with them.
	Latched bool
	// Within, if set, finds the keys that keys does not tell of.
	Within func(args [][]byte, dst []KeyRef) ([]KeyRef, error)
	// As is the command whose work this one does, for statistics.
	As    *Row
	Keyed bool // some of its arguments are, or may be, keys

	ID     int      // dense index, for statistics
	Full   string   // "client|list" for a subcommand, else the name
	Parent *Row     // of a subcommand
	ACL    []string // categories with their @, derived from flags and group
}

// A multiRule is what becomes of a command while a transaction is open.
type multiRule byte

const (
	MultiQueues multiRule = iota // EXEC runs it
	MultiRuns                    // it runs at once
	MultiEnds                    // it is EXEC
)

// A mergeKind is how replies of several nodes become one.
type mergeKind byte

const (
	MergeNone   mergeKind = iota // the command is not split
	MergeOK                      // OK, if all parts were made
	MergeCounts                  // the sum of the parts' numbers
	MergeArrays                  // the elements of the parts, in the order of the keys
)

// Flag is a set of properties, by the names COMMAND INFO shows.
type Flag uint32

// The flags of Redis 7.0, in the order in which COMMAND INFO lists them.
const (
	FlagWrite Flag = 1 << iota
	FlagReadonly
	FlagDenyOOM
	FlagModule
	FlagAdmin
	FlagPubSub
	FlagNoScript
	FlagBlocking
	FlagLoading
	FlagStale
	FlagSkipMonitor
	FlagSkipSlowlog
	FlagAsking
	FlagFast
	FlagNoAuth
	FlagNoMandatoryKeys
	FlagNoAsyncLoading
	FlagNoMulti
	FlagMovableKeys // derived from the key specs
	FlagAllowBusy

	// Not shown: Redis may replicate it, so that CLIENT PAUSE WRITE holds it back.
	FlagMayReplicate

	// Not shown: they correct what is derived from the group and other flags.
	FlagContainer  // has subcommands only, so the group gives no ACL category
	FlagDangerous  // also in the ACL category @dangerous
	FlagAsAdmin    // also in @admin and @dangerous, though not FlagAdmin
	FlagKeyspace   // also in @keyspace, though of another group
	FlagConnection // in @connection instead of its group's category
	FlagSorts      // in @set, @sortedset and @list instead of its group's category
	FlagSystem     // COMMAND DOCS says syscmd: not for applications
)

// A KeySpec says where a command finds some of its keys (Redis 7 key
// specifications): begin at an index or after a keyword, then either a range of
// arguments or a count followed by that many keys.
type KeySpec struct {
	Flags   string // as COMMAND INFO shows them: "RW access update"
	Notes   string
	Index   int    // begin search by index; 0 when keyword is used
	Keyword string // begin search after this word …
	From    int    // … looked for from this argument on (negative: from the end)
	Last    int    // range: last key relative to the first; -1 the last argument
	Step    int    // range: distance between keys
	Limit   int    // range: with last -1, 0 or 1 all, n: 1/n of the arguments
	Keynum  bool   // count before keys instead of range
	NumIdx  int    // keynum: position of the count relative to begin
	First   int    // keynum: first key relative to begin
	Unknown bool   // found only by code (SORT's STORE and its like)
	// Find is that code: it tells the position of the one key, 0 if there is none.
	Find func(args [][]byte) int
	// Optional: a call may have none of these keys (the sources of PFMERGE).
	Optional bool
	// Vary tells the flags of one call, where flags has variable_flags.
	Vary func(args [][]byte) string

	// Set when the table is built, from flags.
	Write  bool // the command may change or delete the key
	NotKey bool // not the name of a key but, say, of a channel
}

// MayWait reports whether a call may wait until one of its keys gets something.
func (c *Row) MayWait(args [][]byte) bool {
	if c.Flags&FlagBlocking == 0 || len(c.Keys) == 0 {
		return false
	}
	if !c.BlockOption {
		return true
	}
	_, blocks := streamOptions(args)
	return blocks
}
