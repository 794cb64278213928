// Package database says how the key of a numbered database is stored, and so where it lies.
//
// The store knows one keyspace. A key of database n is stored as eight bytes, the mark and a head that
// names n, and the key itself. A key of database 0 is stored as it is, so that directories from before
// there were databases need no change; only a key that begins with the mark by itself gets the eight
// bytes, too.
//
// The keys of a database are spread over the cluster by default: each has the token that it has in every
// other database, since [TokenFunc] leaves the eight bytes out. So SELECT changes nothing about which node
// serves a key. In a database that is kept together the head says so, and all keys have one token, that
// of the eight bytes. Which of the two a database is, its [Policy] tells.
//
// SWAPDB changes no key. The number in a stored key names data; which data a numbered database shows tells the
// [Order] of the cluster. Before the first swap each database shows the data of its number.
package database
