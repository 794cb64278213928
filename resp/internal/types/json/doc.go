// Package json has the commands on JSON values, JSON.SET to JSON.TYPE. Their syntax, replies and errors are those of
// RedisJSON 2.
//
// A value is kept as its text, without space between its parts, like a string: what the whole text answers is sent as it
// is, and all other commands read the text into a tree (package document), find their values in it (package path) and, if
// they change any, write it again. The time and memory of a command are in proportion to the value, so a value
// should be no larger than what is changed together. Memory is asked for as it is taken, see [command.Call.Take].
package json
