// Package bus is the one TCP port between nodes. It owns the listening socket, the
// handshake in which two nodes prove that they belong together, and the sealing of
// what they send afterwards when the cluster has a key. It does not own what is
// said on a connection: each has a [Purpose], and the handler of that purpose
// speaks a protocol of its own.
//
// Nodes of different builds meet: each hello names the versions that its node speaks, and both
// use the newest one that they share (hello.go says how a version is raised). A node of version
// 3 names none and refuses all others, so it is dialled a second time in its version.
//
// The handshake is four frames: the dialler's hello, the acceptor's hello, the
// dialler's proof, the acceptor's proof as a welcome. Either side may answer with a
// refusal instead, which names every reason and ends the connection. A refusal is
// not authenticated: it is advice for an operator, not a fact about the cluster.
//
// With a key, each side proves it by an HMAC over both hellos, and everything after
// the welcome travels in sealed records whose keys hang on the cluster key, on a
// nonce of each side, and on a Diffie-Hellman exchange, so that a key that leaks
// later does not open what was recorded before. The dialler proves first, since
// anyone can dial. All nodes share one key: a peer with the key may claim any id. A
// connection cut short between two records looks like one that ended; protocols on
// the bus say themselves where their messages end.
//
// With TLS, both sides show certificates before they shake hands, and refuse one that no authority of theirs has signed. The
// proof of a cluster key covers the TLS connection then, and TLS takes the place of the sealed records (tls.go). The first byte
// tells an acceptor whether a peer speaks TLS, so one port serves both while [TLS.Optional].
//
// Read [Bus] first, then handshake.go, hello.go (what is compared) and record.go.
package bus
