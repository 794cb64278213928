// Package drive is the clients of a load test: connections that ask for what a workload
// says, when it says so, and note what they see.
//
// It owns connections and how they are made anew, loops closed and open, the reading of
// replies, what an error means for whoever asked, and how much of the processor the clients
// take. It does not own what is asked for (package workload), what is kept of the answers
// (package series) or whether they are right (package verify).
//
// Read [Config] and [Load] first, then worker.go for one client, and reply.go for what it
// reads.
package drive
