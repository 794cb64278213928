// Package files has what the store asks of a file system beside Pebble: directories that are there
// after a power loss, and the file system as Pebble is to see it ([PebbleFS]).
package files
