package resp

import (
	"strings"
	"testing"
)

func TestBitCommandsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
SETBIT k 7 1
GETBIT k 7
GETBIT k 6
GETBIT k 100
GETBIT none 0
GETBIT none abc
SETBIT k 7 0
SETBIT k 8 0
STRLEN k
GET k
SETBIT k 8 2
SETBIT k 8 -1
SETBIT k 8 abc
SETBIT k -1 1
SETBIT k abc 1
SETBIT k 4294967296 1
SETBIT k 9223372036854775807 1
SETBIT k #1 1
GETBIT k -1
GETBIT k 4294967295
GETBIT k 4294967296
GETBIT k ""
SET n 12345
GETBIT n 2
SETBIT n 7 1
GET n
# BITCOUNT
BITCOUNT none
BITCOUNT none a b c d
BITCOUNT n
BITCOUNT n 0
BITCOUNT n 0 0
BITCOUNT n 0 -1
BITCOUNT n -2 -1
BITCOUNT n -1 -2
BITCOUNT n -1 -2 bogus
BITCOUNT n 1 0
BITCOUNT n 1 0 bogus
BITCOUNT n 0 -100
BITCOUNT n 0 -100 BIT
BITCOUNT n -100 100 BYTE
BITCOUNT n 0 0 bit
BITCOUNT n 5 30 BIT
BITCOUNT n 7 8 BIT
BITCOUNT n -9 -2 BIT
BITCOUNT n 39 39 BIT
BITCOUNT n 40 50 BIT
BITCOUNT n 0 -1 BIT x
BITCOUNT n a 1
BITCOUNT n 0 b
BITCOUNT n -9223372036854775808 9223372036854775807
BITCOUNT n -9223372036854775808 9223372036854775807 BIT
SET e ""
BITCOUNT e
BITCOUNT e 0 -1
BITCOUNT e 0 -1 BIT
BITCOUNT e 0 0
# BITPOS
BITPOS none 0
BITPOS none 1
BITPOS none 2
BITPOS none 0 a b c d
BITPOS n 2
BITPOS n -1
BITPOS n a
BITPOS n 1
BITPOS n 0
BITPOS n 1 2
BITPOS n 1 -1
BITPOS n 0 2 -1
BITPOS n 1 2 2 BIT
BITPOS n 0 2 3 BIT
BITPOS n 1 4 30 BIT
BITPOS n 1 a
BITPOS n 1 0 a
BITPOS n 1 0 a BIT
BITPOS n 1 0 1 bogus
BITPOS n 1 a 1 bogus
BITPOS n 1 0 1 BIT x
BITPOS n 1 100
BITPOS n 0 100
BITPOS n 1 3 1
BITPOS e 0
BITPOS e 1
BITPOS e 0 0
BITPOS e 0 0 -1
BITPOS e 0 0 -1 BIT
SET ones "\xff\xff\xff"
BITPOS ones 0
BITPOS ones 0 1
BITPOS ones 0 0 -1
BITPOS ones 0 0 -1 BIT
BITPOS ones 0 3
BITPOS ones 0 5 10 BIT
BITPOS ones 1 5 10 BIT
BITPOS ones 1 23 23 BIT
SET zeros "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"
BITPOS zeros 1
BITPOS zeros 1 0 -2
BITPOS zeros 1 0 78 BIT
BITPOS zeros 1 0 79 BIT
BITPOS zeros 1 3 -1
BITPOS zeros 0 9
# BITOP
BITOP AND d n ones
GET d
BITOP or d n zeros none
GET d
BITOP XOR d n n
GET d
BITOP NOT d n
GET d
BITOP NOT d n ones
BITOP NOT d none
GET d
BITOP AND d none e
BITOP BOGUS d n
BITOP AND d
BITOP AND n n
GET n
BITOP NOT n n
GET n
BITOP XOR n n zeros n ones
GET n
BITOP AND d ones none
GET d
`)
	})
}

func TestBitfieldAnswersAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
BITFIELD k
BITFIELD k OVERFLOW WRAP
BITFIELD k GET u8 0
BITFIELD k SET u8 0 255 GET u8 0 GET i8 0 GET u4 6
BITFIELD k INCRBY u8 0 10
BITFIELD k INCRBY i5 100 1 GET u4 0
BITFIELD k OVERFLOW SAT INCRBY u8 0 1000 INCRBY u8 0 -1000
BITFIELD k OVERFLOW FAIL INCRBY u8 0 1000 INCRBY u8 0 -1000 INCRBY u8 0 5
BITFIELD k OVERFLOW fail SET u8 0 256 SET u8 0 -1 OVERFLOW sat SET u8 0 256 SET u8 0 -1 OVERFLOW wrap SET u8 0 256 SET u8 0 -1
BITFIELD k OVERFLOW FAIL SET i8 0 128 SET i8 0 -129 OVERFLOW SAT SET i8 0 128 SET i8 0 -129 OVERFLOW WRAP SET i8 0 128 SET i8 0 -129 GET i8 0
BITFIELD k OVERFLOW bogus
BITFIELD k OVERFLOW
BITFIELD k GET
BITFIELD k GET u8
BITFIELD k GET u64 0
BITFIELD k GET u0 0
BITFIELD k GET i65 0
BITFIELD k GET i0 0
BITFIELD k GET x8 0
BITFIELD k GET u 0
BITFIELD k GET "" 0
BITFIELD k GET U8 0
BITFIELD k GET u08 0
BITFIELD k GET u8 -1
BITFIELD k GET u8 #
BITFIELD k GET u8 #-1
BITFIELD k GET u8 abc
BITFIELD k GET u8 4294967296
BITFIELD k GET u8 #536870912
BITFIELD k GET u8 #536870911
BITFIELD k GET u8 4294967295
BITFIELD k SET u8 0
BITFIELD k SET u8 0 abc
BITFIELD k SET u8 0 1 bogus
BITFIELD k SET u8 #1 7 GET u8 8 GET u8 #1 GET i64 #0 GET u63 #0
BITFIELD k SET i64 3 -1 GET i64 3 INCRBY i64 3 1 INCRBY i64 3 -1
BITFIELD k SET i64 #1 9223372036854775807 INCRBY i64 #1 1 OVERFLOW SAT INCRBY i64 #1 -1 INCRBY i64 #1 -9223372036854775808 OVERFLOW FAIL INCRBY i64 #1 -5
BITFIELD k SET u63 #1 9223372036854775807 INCRBY u63 #1 1 OVERFLOW SAT INCRBY u63 #1 -5 INCRBY u63 #1 9223372036854775807
BITFIELD k SET i1 0 1 SET i1 0 -1 GET u1 0 INCRBY u1 0 1 INCRBY i1 0 1
GET k
BITFIELD k OVERFLOW SAT SET i8 0 -9223372036854775808 GET i8 0 SET i8 0 -9223372036854775681 GET i8 0 SET i8 0 -9223372036854775680 GET i8 0
BITFIELD grown OVERFLOW FAIL SET u2 100 9
GET grown
BITFIELD n GET u8 0
GET n
SET n 12345
BITFIELD n GET u8 #1 SET u8 #5 54 GET u63 1
GET n
INCR n
BITFIELD_RO n GET u8 0 GET i8 #2
BITFIELD_RO n
BITFIELD_RO n OVERFLOW SAT GET u8 0
BITFIELD_RO n SET u8 0 1
BITFIELD_RO n GET u8 0 INCRBY u8 0 1
BITFIELD_RO none GET u8 0
BITFIELD_RO n bogus
BITFIELD_RO n GET u99 0
BITFIELD wide SET u8 0 1 SET u8 600000 2 SET u8 1200000 3 INCRBY u63 524280 77 GET u8 600000
BITFIELD wide GET u8 0 GET u8 1200000 GET u63 524280 INCRBY i9 1199999 -3
BITCOUNT wide
GET wide
`)
	})
}

func TestBitCommandsOnLongStringsAnswerAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	differentialInOne(t, func(d *differ) {
		for i, size := range []int{65536, 65537, 1 << 20, 5 << 20} {
			d.do("SET", "long", noise(size))
			d.do("SET", "zeros", strings.Repeat("\x00", size)+"\x01")
			d.do("SET", "ones", strings.Repeat("\xff", size+i))
			for _, unit := range []string{"BYTE", "BIT"} {
				for _, span := range [][2]string{
					{"0", "-1"}, {"3", "-3"}, {"65535", "65536"}, {"524287", "524288"}, {"524281", "524299"}, {"-65541", "-2"},
				} {
					d.do("BITCOUNT", "long", span[0], span[1], unit)
					for _, key := range []string{"long", "zeros", "ones"} {
						d.do("BITPOS", key, "0", span[0], span[1], unit)
						d.do("BITPOS", key, "1", span[0], span[1], unit)
					}
				}
			}
			for _, op := range []string{"AND", "OR", "XOR"} {
				d.do("BITOP", op, "to", "long", "zeros", "none", "ones")
				d.do("GET", "to")
				d.do("BITOP", op, "to", "to", "ones")
				d.do("GET", "to")
			}
			d.do("BITOP", "NOT", "ones", "ones")
			d.do("GET", "ones")
			d.do("BITOP", "AND", "long", "none")
			d.do("GET", "long")
		}
	})
}
