package store

// Prefetch has memory loaded that reads of some keys are going to need, all at a time, in the
// background. It pays off for the keys of a pipeline, not for a single key.
func (s *Store) Prefetch(places []Place) { s.cache.Prefetch(places) }
