package node

import "testing"

// A node that ends between its registration and the note of it may have been given data.
func TestWhoseDataADirectoryHolds(t *testing.T) {
	for _, tt := range []struct {
		b    belonging
		want bool
	}{
		{belonging{}, false},
		{belonging{Generation: 1, Founder: "a"}, false},
		{belonging{Generation: 1, Founder: "b"}, true},
		{belonging{Generation: 1}, true},
		{belonging{Generation: 1, Founder: "a", Entered: true}, true},
	} {
		if got := tt.b.ofOthers("a"); got != tt.want {
			t.Errorf("%+v: %v", tt.b, got)
		}
	}
}
