// Package memory finds how much memory the process may use. A program that imports it has the
// C library keep one heap for all threads, which holds little more than Pebble has asked for.
package memory
