// Package ring holds the pure words of placement.
package ring
