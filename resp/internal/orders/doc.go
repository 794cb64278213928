// Package orders says what operators order of a cluster, and what is asked of the code that carries it out. Package resp
// has the commands, resp/node carries the orders out.
package orders
