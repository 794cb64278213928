package agreed

import (
	"errors"
	"strings"
	"testing"
)

func TestChangesAreMadeTogetherOrNotAtAll(t *testing.T) {
	var none *Values
	one, err := none.With([]Change{{Name: "user/b", Body: "B"}, {Name: "user/a", Body: "A"}, {Name: "other", Body: "x"}, {Name: "user0", Body: "y"}}, 5)
	if err != nil {
		t.Fatal(err)
	}
	users := one.Under("user/")
	if len(users) != 2 || users[0] != (Value{"user/a", "A", 5}) || users[1] != (Value{"user/b", "B", 5}) {
		t.Errorf("users are %v", users)
	}
	for _, wrong := range [][]Change{
		{{Name: "user/a", Remove: true, Was: 5}, {Name: "user/b", Body: "C"}},
		{{Name: "user/a", Remove: true, Was: 5}, {Name: "new", Body: "C", Was: 5}},
		{{Name: "user/a", Remove: true, Was: 4}},
	} {
		if same, err := one.With(wrong, 6); !errors.Is(err, ErrChanged) || same != one {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	for _, wrong := range []Change{{Name: "", Body: "x"}, {Name: strings.Repeat("n", MaxName+1)}, {Name: "n", Body: strings.Repeat("b", MaxBytes)}} {
		if same, err := one.With([]Change{wrong}, 6); !errors.Is(err, ErrTooLarge) || same != one {
			t.Errorf("%.20v: %v", wrong, err)
		}
	}
	two, err := one.With([]Change{{Name: "user/a", Remove: true, Was: 5}, {Name: "user/b", Body: "C", Was: 5}, {Name: "gone", Remove: true}}, 6)
	if err != nil || two.Of("user/a").Version != 0 || two.Of("user/b") != (Value{"user/b", "C", 6}) || one.Of("user/a").Version != 5 {
		t.Errorf("%v, %v", two, err)
	}
	empty, err := two.With([]Change{{Name: "user/b", Remove: true, Was: 6}, {Name: "other", Remove: true, Was: 5}, {Name: "user0", Remove: true, Was: 5}}, 7)
	if err != nil || empty != nil || empty.Under("") != nil {
		t.Errorf("%v, %v", empty, err)
	}
}
