// Package zsets has the commands on sorted sets, those that block included.
package zsets
