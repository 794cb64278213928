// Package sim shows without a server what placement strategies cost: it takes
// millions of keys and up to thousands of nodes through joins, leaves, crashes and
// changes of weight, and counts for each strategy what travels and how even the load
// is.
//
// It owns scenarios, yardsticks that only a simulation can have, and the [Report].
// It does not own the strategies (ring/strategy), nor how a report looks to people, and
// nothing in it speaks to a node.
//
// Strategies are counted by ranges: all keys are sorted once by token, with running
// sums, so that a step costs what its ranges do and not what its keys do. Yardsticks
// have no ranges and are counted key by key. All counts are exact.
//
// Read [Config] and [ParseScenario] first, then [Report]; in the code, run and its
// contestants.
package sim
