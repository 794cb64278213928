// Package engine opens Pebble as a store needs it: never in place of a database that is lost, and with an
// end to failures that Pebble would go on with for ever.
package engine
