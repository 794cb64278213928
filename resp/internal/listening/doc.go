// Package listening keeps sets of clients that are told of something, as those of HASHMASK SUBSCRIBE.
package listening
