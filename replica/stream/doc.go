// Package stream carries the copy of ranges from one node to another: numbered batches in order,
// acknowledged by the receiver once they are durable.
//
// It owns the connection of a copy and its flow control. It does not own what is copied, nor the
// decision to copy: package replica sends on a [Stream] and implements [Receiver].
//
// Read [Stream] and [Receive] first.
package stream
