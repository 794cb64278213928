// Package listening keeps sets of clients that are told of something, as those of MONITOR.
package listening
