// Package kept keeps connections to other nodes from one question to the next.
package kept
