// Package refusal knows why a store accepts no writes.
package refusal
