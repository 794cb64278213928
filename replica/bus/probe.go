package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
)

// ErrNoAnswer is returned by [Bus.Probe] if the other node accepts no connection.
var ErrNoAnswer = errors.New("the bus accepts no connection")

// ownFaults are errors of connecting whose cause is this process or this machine.
var ownFaults = []error{
	context.Canceled, ErrClosed, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL,
}

// Probe opens a connection to the bus of another node and closes it. It returns nil if the node
// accepts it, ErrNoAnswer if it does not, and another error if that says nothing about the node:
// this process may have no file descriptors left, or one of the two has refused the other.
func (b *Bus) Probe(ctx context.Context, addr, peerID string) error {
	conn, _, err := b.Dial(ctx, addr, peerID, Control)
	if err == nil {
		return conn.Close()
	}
	var refused *RefusedError
	if errors.As(err, &refused) || slices.ContainsFunc(ownFaults, func(own error) bool { return errors.Is(err, own) }) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNoAnswer, err)
}
