//go:build !linux

package cache

func adviseSmallPages([]byte) {}
