package keyevents

import "testing"

func TestEventsThatWaitForNodeAreBounded(t *testing.T) {
	const most = 1 << 20
	l := newLine(&Events{cfg: Config{MaxQueued: func() int64 { return most }}}, "another")
	for range 100 {
		l.add(&commit{text: make([]byte, 64<<10)})
	}
	if l.bytes != most {
		t.Errorf("events of %d bytes wait, want %d", l.bytes, most)
	}
}
