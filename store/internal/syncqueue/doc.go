// Package syncqueue makes commits durable in groups, with one sync of the log for each group, and
// tells those who wait for them.
//
// Read [Queue] first. It does not know the log: it is given a function that syncs it, and one that
// says whether it can be relied on.
package syncqueue
