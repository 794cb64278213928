package settings

import (
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/store/rdb"
)

const (
	dumpVersionName = "dump-rdb-version"
	dumpOldest      = "oldest" // that can hold the value, from that of Redis 7.0 on
)

// dumpVersions are the values of dump-rdb-version: RDB versions of payloads that DUMP returns.
var dumpVersions = []string{
	dumpOldest, strconv.Itoa(rdb.OldestVersion), strconv.Itoa(rdb.Version), "11", strconv.Itoa(rdb.TimedVersion), strconv.Itoa(rdb.ReleasedVersion),
	strconv.Itoa(rdb.ValkeyVersion),
}

// dumpVersion is the parameter dump-rdb-version, for payloads that servers of an older version, or of
// Valkey, are to restore.
func (s *Running) dumpVersion() Param {
	read := oneOf(dumpVersions...)
	return Param{
		Name: dumpVersionName,
		Get: func() string {
			if version := strconv.FormatInt(s.DumpVersion.Load(), 10); slices.Contains(dumpVersions, version) {
				return version
			}
			return dumpOldest
		},
		Parse: func(value string) (func(), string) {
			shown, fault := read(value)
			if fault != "" {
				return nil, fault
			}
			version, _ := strconv.Atoi(shown) // 0 for the oldest
			return func() { s.DumpVersion.Store(int64(version)) }, ""
		},
	}.kept(dumpOldest).eachNode()
}
