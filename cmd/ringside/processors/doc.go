// Package processors keeps a process from running on more processors at a time than there
// are for it.
//
// Go runs as many threads at a time as there are processors, and takes it for granted that each
// has one. Beside an application, or a client, that keeps a processor busy, two of them take
// turns on what is left, by the kernel's slices of some milliseconds. Meanwhile the one that
// waits holds what it was at: a client's request, perhaps the latch of a key. With one thread
// less the same work is done in the same time, and no thread waits for a slice.
//
// So a process that is busy, gets no more processor time than a thread less could use, and has
// threads wait for a processor, does with a thread less. It takes that back when it has
// little to do, when a processor has nothing to do, and when it has to wait with fewer threads,
// too: a process with more threads gets more of a processor.
package processors
