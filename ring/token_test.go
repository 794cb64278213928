package ring

import "testing"

func TestHashTag(t *testing.T) {
	for _, tt := range []struct{ key, want string }{
		{"", ""},
		{"foo", "foo"},
		{"{user1000}.following", "user1000"},
		{"foo{bar}{zap}", "bar"},
		{"foo{}{bar}", "foo{}{bar}"},
		{"foo{{bar}}zap", "{bar"},
		{"{bar", "{bar"},
		{"bar}", "bar}"},
		{"}a{b}", "b"},
		{"}{", "}{"},
		{"{}", "{}"},
		{"a{\x00}", "\x00"},
	} {
		if got := HashTag([]byte(tt.key)); string(got) != tt.want {
			t.Errorf("HashTag(%q) = %q, want %q", tt.key, got, tt.want)
		}
	}
}

func FuzzHashTag(f *testing.F) {
	f.Add([]byte("foo{{bar}}zap"))
	f.Add([]byte("{}{a}"))
	f.Fuzz(func(t *testing.T, key []byte) {
		tag := HashTag(key)
		if len(key) > 0 && len(tag) == 0 {
			t.Fatalf("%q: empty tag", key)
		}
		if len(tag) == len(key) {
			return
		}
		// Whoever shares the tag shares the slot.
		if Slot(key) != Slot(append(append([]byte{'{'}, tag...), '}')) {
			t.Fatalf("%q: tag %q has another slot", key, tag)
		}
	})
}
