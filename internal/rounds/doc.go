// Package rounds lets one goroutine serve the connections of many clients that send small
// requests.
//
// With a goroutine for each connection, a request costs a wake-up of that goroutine, a read that
// finds the request and one that finds nothing. Here the connections that wait for a request are
// parked in a [Poller]. A single goroutine, the leader, asks the system which of them have
// received something, and gives each its turn in a round: it calls the connection's [Handler],
// which reads, executes, replies and parks the connection again. A round of many connections
// costs one question to the system and no change of goroutines.
//
// A turn must be short and must not wait, since all others wait behind it. A handler that has
// more to do leaves the round first ([Turn.Leave]): a new leader goes on with the round, and the
// goroutine that led until then belongs to that connection until it parks again. So no work is
// handed from one goroutine to another, neither short nor long work.
//
// A handler that waits without leaving (for a lock, a page of memory, a stalled disk) is noticed:
// after some milliseconds a new leader takes over, and for a moment no connection gets a turn;
// each is resumed in a goroutine of its own instead.
//
// Where a round is large, helpers take turns of it beside the leader, each in a goroutine of its
// own, on processors that have nothing else to do. Nobody waits for a helper: what it has not taken
// the leader takes.
//
// # Invariants
//
//   - There is one leader. The poller's state is a term and whether a turn is under way. Who leads
//     in a term may begin a turn; to pass the term on is a compare-and-swap from the term with a
//     turn under way, and so is the end of the turn: exactly one of the two succeeds. Where the end
//     of the turn fails, the goroutine leads no more and touches nothing of the poller. Only the
//     leader asks the system, and only when nothing of the round is left; leader and helpers take
//     what there is under a lock.
//   - A connection has one owner: it is parked, or a goroutine has it. Who takes a parked
//     connection (the leader for an event, Close, a deadline) does so by a compare-and-swap.
//   - No event is lost. The system reports an event once, when something arrives. The leader
//     notes it on the connection (arrived) before it looks whether the connection is parked; a
//     handler parks first and looks for the note afterwards. One of them sees the other. The note
//     is removed before a read, never after it.
//   - What a turn puts off ([Turn.AtEnd]) is done once the round has no turns left. The goroutine that gives turns
//     does it when it finds nothing to take: a leader before it asks the system again, a helper before it ends or
//     leaves. Where another leader has taken over meanwhile, the turn does it itself: it notes the work before it
//     looks at the state, and the new leader looks for work after it has changed the state.
//   - A handler parks only after a read that found less than it had room for: then the system
//     reports what comes next. The end of a stream may be reported together with its last bytes;
//     so a connection whose end was reported is not parked again.
package rounds
