// Package damage knows that a data directory is damaged: the error, what an operator can do about
// it, and in which ranges damaged tables have been found.
package damage
