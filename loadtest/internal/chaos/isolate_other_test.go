//go:build !linux

package chaos

// isolate cannot: there are no network namespaces.
func isolate() (isolated bool, why string, err error) {
	return false, "only Linux has network namespaces", nil
}
