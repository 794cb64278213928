// Package pubsub delivers published messages to the clients of one node that have subscribed.
//
// [Registry] knows which client has which subscriptions; those of one client are its
// [Subscriptions]. A [Delivery] queues messages for clients, and a [Worker] has what several clients
// publish at once leave together. What they need of a client is the interface [Subscriber]. [WithNames] and
// [AddCounts] add what other nodes have replied. Messages to other nodes, and the commands, are in package resp.
package pubsub
