// Package spans compares ranges of tokens: overlap, containment, sets of ranges, and the rows of
// the table that overlap a range. It is pure.
package spans
