// Package background lets work in the background give way to requests.
//
// Go takes a processor from a goroutine that computes after ten milliseconds, and asks which sockets
// have received something when a processor has nothing else to do. With as many goroutines that compute
// as processors, a request waits for ten milliseconds or more, whatever the work in the background is.
// So a loop that computes for long calls [Yield] every some hundred microseconds.
package background
