// Package memdisk is a disk in memory that can lose its power: what tests put below a
// store.
package memdisk
