package printf

import "testing"

// What C's printf writes.
func TestConversionsWriteWhatCWrites(t *testing.T) {
	tests := []struct {
		format string // with its letter
		value  any
		want   string
	}{
		{"s", "abc", "abc"}, {"5s", "abc", "  abc"}, {"-5s", "abc", "abc  "}, {"05s", "abc", "  abc"},
		{"d", -7, "-7"}, {"+d", 7, "+7"}, {" d", 7, " 7"}, {"05d", -7, "-0007"}, {"-05d", -7, "-7   "}, {".3d", 7, "007"},
		{"05.3d", 7, "  007"}, {".0d", 0, ""}, {"#x", 255, "0xff"}, {"#X", 255, "0XFF"}, {"#o", 8, "010"}, {"#x", 0, "0"}, {"8X", 171, "      AB"},
		{".2f", 2.675, "2.67"}, {"f", 1.0, "1.000000"}, {"e", 12345.678, "1.234568e+04"}, {"G", 1e-7, "1E-07"}, {"g", 1e15, "1e+15"},
		{"#g", 1.0, "1.00000"}, {"#.0f", 3.0, "3."}, {"+08.1f", 3.14, "+00003.1"},
	}
	for _, tt := range tests {
		c, n, err := Parse(tt.format)
		if err != nil || n != len(tt.format)-1 {
			t.Fatalf("%%%s: %d bytes, %v", tt.format, n, err)
		}
		letter := tt.format[n]
		var got []byte
		switch v := tt.value.(type) {
		case string:
			got = c.AppendText(nil, v)
		case float64:
			got = c.AppendFloat(nil, letter, v)
		case int:
			if got = c.AppendUint(nil, letter, uint64(v)); letter == 'd' {
				got = c.AppendInt(nil, int64(v))
			}
		}
		if string(got) != tt.want {
			t.Errorf("%%%s of %v: %q, want %q", tt.format, tt.value, got, tt.want)
		}
	}
	for _, format := range []string{"------d", "123d", ".123f"} {
		if _, _, err := Parse(format); err == nil {
			t.Errorf("%%%s is no error", format)
		}
	}
}
