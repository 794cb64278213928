// Package freeport finds and reserves ports for programs that have to name one before they
// listen on it: nodes that are all told the same, and processes that are told by flags.
package freeport
