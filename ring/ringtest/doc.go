// Package ringtest is the one suite of tests that every placement strategy must
// pass.
//
// It owns the properties that all strategies share. What one strategy alone
// promises, such as agreement with its originals, is tested beside it.
//
// Read [Suite] first.
package ringtest
