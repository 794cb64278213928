// Package running says by which routes a unit of a connection runs and which tokens it touches, in one
// word that others read while it runs.
package running
