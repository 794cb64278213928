// Package keyversion counts changes of keys, for those who watch them (WATCH, client tracking). Until
// there is a watcher it has no counters.
package keyversion
