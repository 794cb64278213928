// Package rehome moves the keys of a database whose policy changes while clients use them: from the places at which they
// are spread to the one at which they are kept together, or back.
//
// Keys move in the order of their positions (see [database.Move]), in steps. In a step the nodes agree that requests
// for some keys wait, and all owners confirm that no earlier request runs. The keys are copied, and the nodes
// agree on a cursor behind them. From then on they are served at their new places, and what is left at the old ones is
// deleted. The leader of the cluster drives the steps ([Drive]). Owners answer its questions ([Node]) and check what they
// are ordered to do ([Admit]).
//
// Invariants:
//
//  1. A key is read for a copy only after all owners have confirmed the step. So no write that was begun under an
//     earlier step changes it behind the copy.
//  2. Owners copy and delete only under the present step. A driver that another one has replaced, or whose step has
//     failed, changes nothing once the owners have confirmed a higher step.
//  3. The cursor changes only if nothing else has changed since the step began. So it passes a key only if all
//     copies of its step were acknowledged.
//  4. A step begins only when no key between Low and High lies at two places. So no copy of a key that was deleted
//     meanwhile comes to life when the cursor passes it.
package rehome
