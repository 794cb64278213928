// Package orders says what operators order of a cluster, and what is asked of the code that carries it out. It has the
// commands of RING that need nothing else of the server, resp/node carries the orders out.
package orders
