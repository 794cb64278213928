package ring

// Slots is the number of slots of Redis Cluster.
const Slots = 1 << slotBits

const slotBits = 14

// slotSize is how many tokens a slot is.
const slotSize = 1 << (32 - slotBits)

// Slot returns the slot of a key as Redis Cluster counts it: CRC16/XMODEM of the
// hash tag, modulo 16384.
func Slot(key []byte) uint16 {
	return crc16(HashTag(key)) % Slots
}

// SlotToken is the token under --hash slot: the slot in the top 14 bits, so that
// a slot is one contiguous range.
func SlotToken(key []byte) Token {
	return Token(Slot(key)) << (32 - slotBits)
}

// crc16 is CRC16/XMODEM: polynomial 0x1021, initial value 0, nothing reflected.
func crc16(b []byte) uint16 {
	var crc uint16
	for _, c := range b {
		crc = crc<<8 ^ crc16Table[byte(crc>>8)^c]
	}
	return crc
}

var crc16Table = makeCRC16Table()

func makeCRC16Table() (t [256]uint16) {
	for i := range t {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		t[i] = crc
	}
	return t
}
