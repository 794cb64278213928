package node

import "testing"

// A node that ends between its registration and the note of it may have been given data.
func TestUnregisteredDirectoryMayHoldData(t *testing.T) {
	for _, tt := range []struct {
		b    membership
		want bool
	}{
		{membership{}, false},
		{membership{Generation: 1, Founder: "a"}, false},
		{membership{Generation: 1, Founder: "b"}, true},
		{membership{Generation: 1}, true},
		{membership{Generation: 1, Founder: "a", Entered: true}, true},
	} {
		if got := tt.b.dataIsFromCluster("a"); got != tt.want {
			t.Errorf("%+v: %v", tt.b, got)
		}
	}
}
