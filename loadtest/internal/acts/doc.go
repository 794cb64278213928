// Command acts does to real nodes what people do to their machines, and checks that every
// acknowledged write is still there: it kills nodes, renames their hosts, moves and copies
// their directories, fills their disks, limits their memory and sends them signals and
// foreign bytes.
//
//	go run ./loadtest/internal/acts                     # all acts
//	go run ./loadtest/internal/acts --only rename,move  # some of them
//
// Each act runs nodes of its own on the loopback interface, in a directory of its own. Acts
// that need root, or a file system or a memory limit of a node's own, are skipped where the
// machine does not allow them, and the report says why. The exit status is 1 if an act
// fails; its directory and logs are kept then.
//
// Begin with the list of acts in acts.go. A stage holds the nodes and the data of one act.
package main
