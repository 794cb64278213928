// Package script runs Lua scripts as Redis 7.0 does: what scripts find of Redis, the
// environment they run in, and how values become replies and replies values. The language
// itself is in package lua, the libraries cjson, cmsgpack, struct and bit are in luaext.
//
// The package knows no commands: the caller hands a [Host] to it that carries them out. A
// [Script] is compiled once and run by any [Runtime]; a Runtime runs one script at a time, in
// an environment that the script cannot change for those after it.
//
// Read first: [Compile], [Runtime.Run]. What scripts see of Redis is in redis.go, the
// environment in sandbox.go.
package script
