// Package moment is one moment of a whole cluster as clients see it: what RING BACKUP replies, and a reader of what
// each primary held at that moment.
//
// It owns the form of the reply to RING BACKUP START, and the loop that reads streams, repeats lost requests and keeps
// the nodes from giving the moment up. It does not own how nodes agree on a moment (package resp/node/internal/backup)
// nor what becomes of the streams (packages resp/backup and resp/importer).
//
// Read [Moment] first, then [Reader].
package moment
