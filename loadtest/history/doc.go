// Package history records what concurrent clients asked of a server and what they were
// told, and says whether one server, doing one thing at a time, could have answered so
// (linearizability, by github.com/anishathalye/porcupine). What has an unknown outcome
// may have been done at any later time, or never.
//
// Begin with [Recorder]: a [Client] asks at random and records; [Recorder.Check] judges.
package history
