// Package trig computes trigonometric functions, exponentials and logarithms so that the result is the number nearest to the true
// one. The functions of package math may be off in the last bit, other than those of the C libraries
// that Redis uses; so distances that were stored would differ.
package trig
