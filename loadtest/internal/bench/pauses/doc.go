// Command pauses measures for how long a key cannot be written when nodes stop, die and come
// back.
//
// It builds and starts three nodes on this machine, with the settings that they have by
// default, and lets clients write keys without a pause, each client one key, through a node
// that nothing happens to:
//
//	go run ./loadtest/internal/bench/pauses                       # 10 rounds of each
//	go run ./loadtest/internal/bench/pauses --rounds 50 --only stop,kill
//
// In a round of
//
//   - stop, the primary of the keys is ended with SIGTERM, which makes their backups
//     primaries, and started again;
//   - back, which follows, that node gets its share again: it gets copies, and becomes the
//     primary of as many keys as before;
//   - kill, the primary of the keys is ended with SIGKILL;
//   - leader, the node that leads the table is ended with SIGKILL, and the keys are those of
//     which it has no copy.
//
// The pause of a key is the longest that a client had to wait for a SET, from its sending to
// its success, with whatever it took to send it again. For each kind it prints the least, the
// median and the most of the pauses of all keys in all rounds, and beside it the same of as
// much time before, when nothing happened: all share the machine, and wait for it now and
// then. It also tells if leases ended of nodes to which nothing happened, which none should.
// What changes hands waits for the disks, too, which write what the table decides: a --dir in
// memory shows what is left without. The numbers never change the exit status; a node that failed does.
//
// Begin with run, which is the whole course, and probe.go for what is measured.
package main
