//go:build !linux

package store

func adviseSmallPages([]byte) {}
