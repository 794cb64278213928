// Package socket reads from and writes to sockets that do not wait, without telling the
// scheduler.
//
// A system call through package syscall is announced, so that others may run if it takes
// long, and wakes the runtime's monitor, which then looks around fifty thousand times a
// second for as long as there is something to do. Where a processor is shared with those on
// the other side of the sockets, that is an eighth of what a proxy needs. Calls on a socket
// that does not wait are short, and need none of it.
package socket
