// Package bare writes what a backup writes, to a Pebble with the settings of a store and
// without one: no cache, no counts that are read, no look at what a key was before. Nothing
// that keeps a copy in Pebble takes less, so benchmarks can tell what a copy costs at least.
package bare
