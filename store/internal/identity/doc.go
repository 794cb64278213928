// Package identity is the small file that says what a data directory is, and the lock of the directory. It does
// not open anything else that lies there.
package identity
