// Package outcome says what has become of requests that were sent to other nodes: the [Fate] of one
// request, and the [Outcome] of a command that several nodes do a part of. Package resp sends the requests.
package outcome
