// Package feed replicates writes from the primary of a range to its in-sync backups.
//
// A primary sends each backup one ordered session of frames and counts the acknowledgements:
// primaryState decides when a change is acknowledged, sessionSender writes the frames. A backup
// applies them: backupState decides which frames it accepts, sessionReceiver reads and
// acknowledges them. Both states are pure, without clock, network or store, so that the model in
// the tests can step through every order of events.
//
// It owns the protocol of the feed and the sets that acknowledge a write. It does not own the
// table, leases, copies, or the store: see [Config] and [Store] for what it needs of them.
//
// Read [Feed] first, then primary_state.go and backup_state.go. The rules are argued in
// replica/DESIGN.md.
package feed
