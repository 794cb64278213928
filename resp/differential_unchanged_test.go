package resp

import (
	"strconv"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// A write of bits that leaves a string as it was is no change for WATCH, if the string was written by parts before.
func TestBitsWithoutChangeAreNoChange(t *testing.T) {
	differential(t, func(d *differ) {
		for _, create := range []string{"SETBIT k 7 1", "SET k ab\nAPPEND k c", "BITFIELD k SET i5 0 3"} {
			for _, write := range []string{"SETBIT k 7 1", "SETBIT k 7 0", "SETBIT k 90 0", "BITFIELD k SET i5 0 3", "BITFIELD k SET i5 0 4", "BITFIELD k INCRBY i5 0 0", "BITFIELD k INCRBY i5 0 1", "BITFIELD k SET u8 90 0", "BITFIELD k GET u8 0"} {
				d.run("DEL k\n" + create + "\nOBJECT ENCODING k")
				for range 2 {
					d.run("WATCH k\n" + write + "\nMULTI\nPING\nEXEC\nOBJECT ENCODING k\nGET k")
				}
			}
		}
	})
}

// XTRIM with ~ removes whole nodes, the first of which may lack some entries.
func TestApproximateTrimRemovesNodes(t *testing.T) {
	randomtest.DrawShort(t, 4)
	differential(t, func(d *differ) {
		for _, node := range []int{100, 10, 7} {
			d.do("CONFIG", "SET", "stream-node-max-entries", strconv.Itoa(node))
			d.do("DEL", "s")
			for i := range 500 {
				d.do("XADD", "s", strconv.Itoa(i+1)+"-1", "f", "v")
			}
			for _, most := range []string{"480", "=466", "444", "433", "=401", "400", "395", "=395", "300", "=205", "204", "101", "100", "=99", "50", "0"} {
				kind := "~"
				if most[0] == '=' {
					kind, most = "=", most[1:]
				}
				d.do("XTRIM", "s", "MAXLEN", kind, most)
				d.do("XLEN", "s")
			}
		}
	})
}
