// Package redistest runs real Redis servers for the tests that compare with them.
//
// [Start] lends a server to a test. A server stays until the test's process ends, and is reset
// between tests: reset.go says what of. A server that cannot be reset is replaced.
package redistest
