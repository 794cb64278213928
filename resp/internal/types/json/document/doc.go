// Package document has JSON values as trees that can be changed: the order of an object's members stays as it was, and
// integers stay integers. Read [Value] first.
//
// Trees are bounded: they are at most [MaxDepth] deep, and memory for them is asked for before it is taken.
package document
