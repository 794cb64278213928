// Package systemd takes the sockets that systemd has opened for the process, and tells systemd when
// the node is ready, alive and stopping. Nothing happens in a process that systemd has not started.
// Start with [Sockets] and [Start].
package systemd
