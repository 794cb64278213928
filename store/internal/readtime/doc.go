// Package readtime knows whether reads from disk are quick.
package readtime
