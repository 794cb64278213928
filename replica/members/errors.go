package members

import "errors"

// Errors of [Members.Fatal] and in logs; test with errors.Is.
var (
	// ErrStranger: the other node is none of this cluster.
	ErrStranger = errors.New("not a node of this cluster")
	// ErrKey: the other node has another cluster key, or just one of both has one.
	// It comes with ErrStranger.
	ErrKey = errors.New("its cluster key is another (requirepass is in the place of one that is not set)")
	// ErrGeneration: the other node's cluster has the same name and was founded apart
	// from this one's. It comes with ErrStranger.
	ErrGeneration = errors.New("it belongs to another cluster of the same name")
	// ErrReplaced: another node has the same id, and goes before this one.
	ErrReplaced = errors.New("another node has this id")
)

// Errors of methods.
var (
	// ErrClosed: Close has been called.
	ErrClosed = errors.New("members: closed")
	// ErrLeft: Leave has been called.
	ErrLeft = errors.New("members: has left the cluster")
)
