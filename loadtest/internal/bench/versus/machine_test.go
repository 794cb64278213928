package main

import (
	"testing"
)

func TestFileSystemIsThatOfTheNearestMount(t *testing.T) {
	const mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tmp/data xfs rw 0 0\n"
	for path, want := range map[string]string{
		"/var/x": "ext4", "/tmp": "tmpfs", "/tmp/x": "tmpfs", "/tmpx": "ext4", "/tmp/data/x": "xfs",
	} {
		if got := fileSystem(mounts, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
