// Package budget bounds the memory of requests and replies in flight, of all clients together.
//
// A request that needs more waits, unread. One connection at a time may exceed the limit, so that a request
// larger than the whole budget can pass, and so that requests that each hold a part of it do not wait for one
// another for ever. While requests wait, the client that holds the most memory among those that do not go on,
// reading its replies or sending the rest of its request, is closed.
package budget
