// Package nonetwork is the network of a node that is alone for good: no port is open, nothing
// arrives and no other node can be reached. Start with [Network].
package nonetwork
