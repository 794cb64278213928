// Package unixsocket listens on Unix sockets for clients of the same machine: it replaces the
// socket file of a process that is gone, refuses a path that a live process listens on, and removes
// the file at the end. Start with [Listen].
package unixsocket
