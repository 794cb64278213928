// Package database says how the key of a numbered database is stored.
//
// The store knows one keyspace. A key of database n is stored as eight bytes, the mark and n, and the
// key itself. A key of database 0 is stored as it is, so that directories from before there were
// databases need no change; only a key that begins with the mark by itself gets the eight bytes, too.
//
// A key has the same token in each database: [TokenFunc] leaves the eight bytes out. So SELECT changes
// nothing about which node serves a key.
package database
