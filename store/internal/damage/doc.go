// Package damage knows that a data directory is damaged: the error, what an operator can do about
// it, in which ranges damaged tables have been found, and when writes are refused since tables cannot be
// merged.
package damage
