// Package redistest runs real Redis servers for the tests that compare with them.
package redistest
