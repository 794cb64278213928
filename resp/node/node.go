package node

import (
	"net"
	"sync"
)

// A Node is one running Ringside.
type Node struct {
	lis  net.Listener
	done chan struct{}
	once sync.Once
}

// Open starts a node.
func Open(cfg Config) (*Node, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	lis, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, err
	}
	return &Node{lis: lis, done: make(chan struct{})}, nil
}

// Addr is where clients connect.
func (n *Node) Addr() net.Addr { return n.lis.Addr() }

// HTTPAddr is where metrics and health are served, nil if they are not.
func (n *Node) HTTPAddr() net.Addr { return nil }

// Done is closed when the node wants to stop, by a client's SHUTDOWN or a fatal
// error.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err is the fatal error after Done, nil after SHUTDOWN.
func (n *Node) Err() error { return nil }

// Close stops the node.
func (n *Node) Close() error {
	var err error
	n.once.Do(func() { err = n.lis.Close() })
	return err
}
