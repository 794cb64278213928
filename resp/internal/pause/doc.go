// Package pause is CLIENT PAUSE: which commands are held back, and for how long.
package pause
