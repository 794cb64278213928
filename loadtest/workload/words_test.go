package workload

import (
	"errors"
	"math"
	"strings"
	"testing"
)

var errTest = errors.New("bad text")

func TestWordsKnowTheirColumns(t *testing.T) {
	var got []Word
	for words := range Parts(" a bc;;\td ; ") {
		got = append(got, words...)
	}
	want := []Word{{"a", 2}, {"bc", 4}, {"d", 9}}
	if len(got) != len(want) {
		t.Fatal(got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

func TestNumbersAreBounded(t *testing.T) {
	for _, tt := range []struct {
		text        string
		least, most int64
		want        int64 // 0: a fault
	}{
		{"7", 1, 7, 7}, {"8", 1, 7, 0}, {"0", 1, 7, 0}, {"2k", 1, 2000, 2000}, {"3M", 1, 1e9, 3e6}, {"1g", 1, 1e9, 1e9},
		{"2g", 1, 1e9, 0}, {"-1k", -1000, 5, -1000}, {"99999999999999g", 1, math.MaxInt64, 0}, {"", 0, 5, 0}, {"k", 0, 5, 0},
		{"1.5", 0, 5, 0}, {"1k", 1, 999, 0}, {"1k", 1500, 2000, 0}, {"99999999999999999999", 1, math.MaxInt64, 0},
	} {
		n, err := Word{tt.text, 3}.Int(errTest, tt.least, tt.most)
		if (err == nil) != (tt.want != 0) || n != tt.want {
			t.Errorf("%q in %d..%d: %d, %v", tt.text, tt.least, tt.most, n, err)
		}
		if err != nil && (!errors.Is(err, errTest) || !strings.Contains(err.Error(), "column 3: ")) {
			t.Error(err)
		}
	}
	for text, want := range map[string]float64{"0.5": 0.5, "1": 1, "1.1": 0, "nan": 0, "x": 0, "-1": 0, "inf": 0} {
		x, err := Word{text, 1}.Float(errTest, 0, 1)
		if (err == nil) != (want != 0) || x != want {
			t.Errorf("%q: %v, %v", text, x, err)
		}
	}
}
