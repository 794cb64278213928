// Package report passes figures of a server on to a metrics scope, once in a while. What the figures are, its
// user says.
package report
