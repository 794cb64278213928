// Package elements goes over the elements of a collection: what Pebble has of them, merged with what a
// unit has changed.
//
// It owns neither what elements mean (package collection) nor latches and commits (package store).
// Read [Walk] first.
package elements
