// Package script reads what is to happen during a load test: keys are loaded, clients run,
// nodes join, leave and die.
//
// It owns the words of a script and whether it can be played. It does not own nodes or
// clients, and nothing in it acts.
//
// Read [Parse] and [Script.Check] first.
package script
