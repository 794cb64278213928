// Package durable replaces small files so that a crash leaves the old one or the new one,
// whole: what a node remembers of its cluster, its peers and its last start. It seals their
// text with a checksum.
package durable
