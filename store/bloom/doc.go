// Package bloom has scalable Bloom filters with the sizes, hashes and bytes of RedisBloom's: a chain of filters, each
// larger and more exact than the one before, of which the last takes new items.
//
// It owns what a chain knows beside its bits, and which bits an item has; it does not know where the bits are kept. Read
// [Chain] first. Nothing here may be changed by several goroutines at once.
package bloom
