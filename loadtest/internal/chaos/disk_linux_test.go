package chaos

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// diskSize is that of a node's disk.
const diskSize = 256 << 20

// Each node has a disk of its own, a file system in a file: so it can be full, and stand
// still. What stands still keeps whoever writes to it waiting, as a disk does that does not
// answer.

// makeDisk puts an empty disk in a directory.
func makeDisk(image, dir string) error {
	f, err := os.Create(image)
	if err != nil {
		return err
	}
	err = f.Truncate(diskSize)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err := command("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "nodiscard", image); err != nil {
		return err
	}
	return command("mount", "-o", "loop", image, dir)
}

const (
	fiFreeze = 0xC0045877 // _IOWR('X', 119, int)
	fiThaw   = 0xC0045878 // _IOWR('X', 120, int)
)

// stall lets the disk at a directory stand still, or go on.
func stall(dir string, on bool) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	request := uint(fiThaw)
	if on {
		request = fiFreeze
	}
	if err := unix.IoctlSetInt(int(f.Fd()), request, 0); err != nil {
		return fmt.Errorf("stall %s: %w", dir, err)
	}
	return nil
}

// fillDisk takes all the room that there is but for some bytes.
func fillDisk(path string, left int64) {
	f, err := os.Create(path)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if left > 0 {
		var st unix.Statfs_t
		if err := unix.Fstatfs(int(f.Fd()), &st); err == nil {
			_ = unix.Fallocate(int(f.Fd()), 0, 0, max(int64(st.Bavail)*st.Bsize-left, 1))
		}
		return
	}
	end := int64(0)
	for some := int64(64 << 20); some >= 4096; {
		if unix.Fallocate(int(f.Fd()), 0, end, some) != nil {
			some /= 2
			continue
		}
		end += some
	}
	for block := make([]byte, 4096); len(block) > 0; { // what cannot be had so
		if _, err := f.WriteAt(block, end); err != nil {
			block = block[:len(block)/2]
			continue
		}
		end += int64(len(block))
	}
}
