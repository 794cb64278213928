// Package human writes figures as people read them, with three Significant digits and a
// unit that suits them, and lays texts out in lines of so many cells.
//
// It does not own what a figure means.
package human
