// Package counts knows how many keys and bytes each slice of 2¹⁶ tokens holds. The counts are right
// again after a crash: each commit carries its changes of them, as an entry of a journal.
//
// Read [Counts] first. What must be locked stands beside each method: the store's lock of commits
// keeps a term of the journal from changing while a commit of it is under way.
package counts
