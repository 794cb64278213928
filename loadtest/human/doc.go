// Package human formats numbers for people: three significant digits and a suitable unit.
// It also wraps and clips texts to a number of terminal cells.
//
// It does not know the meaning of a number.
package human
