// Package tuning owns what a store sets of Pebble's options apart from where things lie, so
// that what is compared with a store (package store/bare) differs in nothing else. The reasons are
// in DESIGN.md of package store.
package tuning
