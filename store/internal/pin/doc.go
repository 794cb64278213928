// Package pin keeps what a store held at one moment: [Set.Freeze] holds commits back, takes a snapshot of Pebble
// and counts it, so that it is closed before the store is. It knows neither keys nor values.
package pin
