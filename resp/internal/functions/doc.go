// Package functions has the libraries of functions that a cluster agrees on: FUNCTION and its subcommands, and
// the functions that FCALL finds.
//
// The nodes agree on names and code of libraries as named values (package agreed). A [Registry] compiles what
// was agreed, a [Set] is the result. The package knows no connections: what it needs of a server is in [Server].
package functions
