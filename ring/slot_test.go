package ring

import "testing"

func TestCRC16CheckValue(t *testing.T) {
	if got := crc16([]byte("123456789")); got != 0x31C3 {
		t.Errorf("crc16(123456789) = %#x, want 0x31c3", got)
	}
}

func TestSlotAgreesWithRedisCluster(t *testing.T) {
	for _, tt := range []struct {
		key  string
		want uint16
	}{
		{"foo", 12182},
		{"bar", 5061},
		{"foo{bar}{zap}", 5061},
		{"{user1000}.following", 3443},
		{"{user1000}.followers", 3443},
		{"foo{}{bar}", 8363},
		{"foo{{bar}}zap", 4015},
		{"{bar", 4015},
		{"", 0},
	} {
		if got := Slot([]byte(tt.key)); got != tt.want {
			t.Errorf("Slot(%q) = %d, want %d", tt.key, got, tt.want)
		}
		if got, want := SlotToken([]byte(tt.key)), Token(tt.want)<<18; got != want {
			t.Errorf("SlotToken(%q) = %d, want %d", tt.key, got, want)
		}
	}
}

func TestSlotTokenAllocatesNothing(t *testing.T) {
	key := []byte("{user1000}.following")
	if n := testing.AllocsPerRun(100, func() { SlotToken(key) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSlotToken(b *testing.B) {
	key := []byte("key:000000123456")
	b.ReportAllocs()
	for b.Loop() {
		SlotToken(key)
	}
}
