package node

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// fileIdentity tells a file from its copies: by device, inode and time of birth, which a
// rename keeps. It is empty if the file is not there or the system does not say.
func fileIdentity(path string) string {
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

// isFileCopy tells whether the file of one place was made at another moment than that of the
// other, so that it is a copy for certain. Device and inode may be numbered anew when a file
// system is mounted.
func isFileCopy(was, is string) bool {
	const parts = 3 // device, inode, time of birth
	a, b := strings.Split(was, "/"), strings.Split(is, "/")
	return len(a) == parts && len(b) == parts && a[parts-1] != b[parts-1]
}
