// Package wiretest holds streams of requests, well formed and malformed, with what Redis 7.0.15
// answers to them.
package wiretest
