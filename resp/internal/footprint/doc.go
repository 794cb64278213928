// Package footprint remembers where a client has written, so that WAIT asks about those ranges only.
package footprint
