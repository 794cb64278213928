// Command ringside is the one binary: each subcommand turns flags, RINGSIDE_*
// variables and a YAML file into the Config of a package and calls it.
//
// It owns the command line, the log's form and the exit code: 0 after an orderly
// stop, 1 after a failure, 2 if what was asked for is not valid, 130 if a signal
// ended a simulation early. It holds no logic of the server, which is package
// resp/node, nor of the simulation, which is package loadtest/sim.
//
// Read main.go first, then serve.go and flags.go; package settings is how
// settings are read. simulate_flags.go, simulate_output.go and
// simulate_progress.go belong to simulate.go.
package main
