// Package column reads the short texts in which people say what a run is to do, and tells
// the column of whatever is wrong in them.
//
// It owns words and where they stand. It does not own what they mean.
package column
