// Package locks holds mutexes that may be held while waiting for a store or a network, and small
// helpers for channels. Tests in virtual time see a goroutine that waits for a [ChanMutex] as
// blocked, which they do not for a sync.Mutex.
package locks
