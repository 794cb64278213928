// Package walk goes over the entries of the keys that exist in a store, in the order of their
// positions: each header, then the entries of its value.
package walk
