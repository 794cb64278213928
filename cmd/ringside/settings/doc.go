// Package settings reads the settings of a command from its flags, from
// environment variables and from a YAML file, all under the same names, and
// reports every fault of all three at once.
//
// --max-clients, PREFIX_MAX_CLIENTS and max-clients: in the file are one setting;
// a flag wins over a variable, a variable over the file, the file over the
// default. It owns the sources and the forms of sizes, durations and switches. It
// does not own what a value means: the command validates that afterwards and asks
// [Set.Source] where a bad one came from.
//
// Read [Set] first, then value.go.
package settings
