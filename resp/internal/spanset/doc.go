// Package spanset works on spans: token intervals, in order, of which none wraps and none overlaps another.
// The whole circle is one of them.
package spanset
