// Package scripts has the scripts that a server knows, and the scripts and functions that run.
//
// Read [Cache] and [Runs] first. The package knows no commands and no connections: the server runs scripts.
package scripts
