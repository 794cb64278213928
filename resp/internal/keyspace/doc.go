// Package keyspace counts keys by their databases, and adds up the counts of several nodes.
package keyspace
