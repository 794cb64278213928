// Package glob matches patterns as KEYS, PSUBSCRIBE and CONFIG GET take them.
package glob
