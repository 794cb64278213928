// Package script runs Lua scripts as Redis does: the language, the libraries that scripts
// find, and how values become replies and replies values. It owns the Lua library.
//
// It knows nothing of commands: whoever runs a script hands it a [Host] that carries them
// out. A [Script] is compiled once and run by any [Runtime]; a Runtime runs one script at a
// time, in an environment that the script cannot change for those after it.
//
// Read first: [Compile], [Runtime.Run]. What scripts see of Redis is in redis.go, what they
// may touch in sandbox.go; the libraries are in files of their own.
package script
