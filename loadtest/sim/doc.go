// Package sim shows without a server what placement strategies cost: it takes
// millions of keys and up to thousands of nodes through joins, leaves, crashes and
// changes of weight, and counts for each strategy what travels and how even the load
// is.
//
// It owns scenarios, yardsticks that only a simulation can have, and the [Report].
// It does not own the strategies (ring/strategy), and nothing in it speaks to a node.
//
// Read [Report] first.
package sim
