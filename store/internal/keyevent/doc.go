// Package keyevent queues the key events of commits, and owns the form in which a sink gets them.
//
// It owns neither what an event means nor when a commit is settled (package store). Read [Queue]
// first.
package keyevent
