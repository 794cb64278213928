// Package ops owns what travels from one store to another: a batch of operations on keys and their
// entries, as a tap hands it over and a copy emits it.
//
// It is pure. Read [Op] and [Writer] first; [Each] reads a batch. Batches are cut by a position
// ([Before]) or by ranges ([Within]).
package ops
