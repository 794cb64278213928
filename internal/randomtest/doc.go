// Package randomtest draws the seeds of random tests and says how long they run.
package randomtest
