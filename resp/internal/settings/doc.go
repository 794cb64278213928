// Package settings has the limits and switches of a server: [Settings] as they are configured,
// [Running] as they are read while the server runs, and [Param] and [Table], by which CONFIG GET and
// SET show and change them.
package settings
