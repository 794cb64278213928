// Command flaky looks for tests that do not always hold: it builds each test binary once,
// runs all of them again and again while busy loops take the processors, and tells each
// test that failed, with its seed and how often. It ends with status 1 if one did.
//
// Begin with [run]; [readOutput] is how failures are told apart. What a test does is the
// test's matter, and so are its seeds: a seed is found where a test logs "seed" and a
// number.
package main
