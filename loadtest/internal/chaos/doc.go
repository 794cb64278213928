// Package chaos tests a cluster of real processes while they are killed, stopped, frozen,
// restarted in turn at new addresses, cut off from each other in both ways or one, on disks
// that are full, low, slow or stuck, by clocks that are set or stand still and with tables that
// are not applied, while others join and leave, all at random, and holds all that clients were
// told against what one server could have answered.
//
// It works in rounds: faults for a while, then a phase without, in which everything has to
// be served and in sync within a bound; then every key is read through every node, and
// the history of each is judged. Beside these clients others write keys of all types, in
// transactions and as a group of a stream, and know what they hold, and others listen to key
// events: each acknowledged write is told of once, or a gap is. At the end it prints operations,
// faults, what was lost and the longest that a key was unavailable:
//
//	go tool task test:chaos                                # 10 minutes
//	go tool task test:chaos -- -duration 1h -nodes 5
//	go tool task test:chaos -- -faults kill,freeze         # only these
//
// On Linux as root each node has a network namespace and a disk of its own, an ext4 in a
// file, which is frozen as fsfreeze(8) does where it is to be slow or stuck. On linux/amd64
// it builds nodes with hooks for clocks and the table, see hooks_test.go; the machine's clock is
// left alone.
// What a machine does not allow is left out, and it says so. If the test fails, the nodes' data
// and logs are kept.
//
// Begin with run (run_test.go), which is the whole course, faults_test.go for what goes wrong, and package
// resp/node/nodetest for how it is judged.
package chaos
