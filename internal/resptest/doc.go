// Package resptest is for tests that speak RESP: [Dial] connects to a server, [Serve] and
// [Requests] make one, [WaitFor] waits for what a server does on its own.
//
// It knows no commands and no server. The tests of a package start its servers themselves, and
// package redistest starts those of Redis.
package resptest
