// Package listeners opens the sockets on which a node serves its clients, a TCP address, a Unix
// socket and those that the process has inherited, and serves them and the connections of the same
// process together. Start with [Open].
package listeners
