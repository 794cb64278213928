// Package lastrun keeps what a directory remembers of the last start of its node. A start that
// follows learns from it whether it has all that was acknowledged.
package lastrun
