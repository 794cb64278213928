// Package quota bounds the bytes of data that a node holds as a primary: it says when a write is
// refused (maxmemory), and which keys are evicted to make room (maxmemory-policy).
//
// What counts are the bytes of keys and values as the store counts them, not memory. [Quota] compares
// them with the limit; its evictor draws random keys (draw.go), chooses the coldest of them (choose.go)
// and has the server delete them as a client would. Keys are drawn from the cache while that knows nearly all of
// them, otherwise from disk.
package quota
