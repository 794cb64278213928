// Package facts derives figures of a node for its metrics.
package facts
