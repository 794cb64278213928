// Package printf writes texts and numbers as the conversions of C's printf do, for string.format.
package printf
