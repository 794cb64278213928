// Package stop turns the signals that end a command into the end of a context, so that
// the command removes its temporary directories.
package stop
