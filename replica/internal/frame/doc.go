// Package frame reads and writes the frames that nodes exchange: a length, a kind and a payload.
// The kinds of a copy's stream are here; the kinds of the feed are in replica/feed.
package frame
