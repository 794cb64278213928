// Package keyversion counts changes of keys, for watchers (WATCH, client tracking). Until
// there is a watcher it has no counters.
package keyversion
