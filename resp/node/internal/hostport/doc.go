// Package hostport takes the addresses of settings apart, with errors that say what would be right.
package hostport
