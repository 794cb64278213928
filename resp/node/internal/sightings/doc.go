// Package sightings notes since when nodes are as gossip shows them.
package sightings
