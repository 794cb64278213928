// Package compare plays one script for several contestants, strategies in clusters of
// their own or servers that run somewhere, in rounds, and reports what clients and nodes
// saw.
//
// It owns the order of things: who is next, when keys are loaded, when nodes come and go,
// which time counts as before, during and after an event. It does not own the load
// (package drive), the nodes (package fleet) or what the report looks like (package
// report).
//
// Read Config and Run first, then play.go for one run and events.go for what follows from
// an event.
package compare
