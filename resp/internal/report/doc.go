// Package report passes figures of a server on to a metrics scope, once in a while. Its user says which; those
// of the store and of the moving of data are listed here.
package report
