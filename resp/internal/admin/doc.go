// Package admin has the commands that show and change the server itself: INFO, CONFIG, SLOWLOG,
// LATENCY, MEMORY, COMMAND, ACL, DEBUG, SHUTDOWN and the like. Package resp/admin is another one: the pages
// that a node serves over HTTP.
//
// [Server] is what the commands work on. What changes from call to call they ask of [Source], which
// package resp implements.
package admin

// RedisVersion is the version whose behaviour the commands have; clients ask for it to know what
// they may send.
const RedisVersion = "7.4.0"
