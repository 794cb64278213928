// Package acts tests real nodes under the operations that people perform on their machines. Its tests
// kill nodes, rename their hosts, move and copy their directories, fill their disks, limit their
// memory and send them signals and foreign bytes, and check that every acknowledged write is still
// there:
//
//	go tool task test:acts                              # all acts
//	go tool task test:acts -- -run '/(rename|move)$'    # some of them
//
// Each act runs nodes of its own on the loopback interface, in a directory of its own. Acts that
// need root, or a file system or a memory limit for one node, are skipped where the machine does not
// allow them, and say why. If an act fails, its directory and logs are kept.
//
// Begin with the list of acts in list_test.go. A stage holds the nodes and the data of one act.
package acts
