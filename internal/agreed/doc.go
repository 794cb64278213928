// Package agreed has small named values that all nodes of a cluster agree on, such as its users. The
// placement table holds them, since it is what nodes agree on; what they mean, the packages know that
// set them.
//
// Read [Values] first.
package agreed
