package lists

import (
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// Sizes are those of listpack.c of Redis 7.4.
func TestEntrySizeIsThatOfAListpack(t *testing.T) {
	for element, want := range map[string]int64{
		"": 2, "a": 3, "0": 2, "127": 2, "128": 3, "-1": 3, "4095": 3, "4096": 4, "-4096": 3, "-4097": 4, "32767": 4, "32768": 5,
		"8388607": 5, "8388608": 6, "-2147483648": 6, "2147483648": 10, "-9223372036854775808": 10, "9223372036854775808": 21, "01": 4, "-0": 4,
		strings.Repeat("w", 63): 65, strings.Repeat("w", 64): 67, strings.Repeat("w", 125): 128, strings.Repeat("w", 126): 130,
		strings.Repeat("w", 4095): 4099, strings.Repeat("w", 4096): 4103, strings.Repeat("w", 16377): 16384, strings.Repeat("w", 16378): 16386,
	} {
		if got := entrySize([]byte(element)); got != want {
			t.Errorf("%.30q of %d bytes takes %d, want %d", element, len(element), got, want)
		}
	}
}

func TestSizeOfAListpackIsWithinItsBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		n, longest := 1+random.IntN(30), 1<<random.IntN(14)
		exact, size, whole := int64(frameSize), int64(0), int64(len(binary.AppendUvarint(nil, uint64(n))))
		for range n {
			element := strings.Repeat("w", random.IntN(longest))
			if random.IntN(2) == 0 {
				element = strconv.FormatInt(int64(random.Uint64())>>random.IntN(64), 10)
			}
			exact += entrySize([]byte(element))
			size += int64(len(element))
			whole += int64(len(element) + len(binary.AppendUvarint(nil, uint64(len(element)))))
		}
		for _, isWhole := range []bool{false, true} {
			held := size
			if isWhole {
				held = whole
			}
			if least, most := listpackSize(int64(n), held, isWhole); exact < least || exact > most {
				t.Fatalf("%d elements of %d bytes, whole %v: %d bytes, not within %d and %d", n, size, isWhole, exact, least, most)
			}
		}
	}
}
