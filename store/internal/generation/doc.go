// Package generation numbers the values of a store, so that no two ever have the same number.
//
// It owns the counter and which numbers are in use before the header of their value is written. It does not own
// the log, to which package store writes the ceiling of the counter. Read [Counter] first.
package generation
