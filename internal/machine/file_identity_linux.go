package machine

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// FileIdentity returns the device, inode and birth time of a file. They differ for a copy and stay
// the same when the file is renamed. It is empty if the file does not exist or the system does not
// tell.
func FileIdentity(path string) string {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_INO == 0 {
		return ""
	}
	place := fmt.Sprintf("%d:%d/%d", st.Dev_major, st.Dev_minor, st.Ino)
	if st.Mask&unix.STATX_BTIME != 0 {
		place += fmt.Sprintf("/%d.%09d", st.Btime.Sec, st.Btime.Nsec)
	}
	return place
}

// IsFileCopy reports whether two identities have different birth times, so that one file is
// certainly a copy. Device and inode may change when a file system is mounted.
func IsFileCopy(was, is string) bool {
	const parts = 3 // device, inode, time of birth
	a, b := strings.Split(was, "/"), strings.Split(is, "/")
	return len(a) == parts && len(b) == parts && a[parts-1] != b[parts-1]
}
