// Package agreement changes named values that all nodes agree on (package agreed) in the placement table.
package agreement
