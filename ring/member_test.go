package ring

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestParseMember(t *testing.T) {
	for text, want := range map[string]Member{
		"a":                  {ID: "a", Weight: 1},
		"b:2":                {ID: "b", Weight: 2},
		"b:0.25":             {ID: "b", Weight: 0.25},
		"10.0.1.1:11211:600": {ID: "10.0.1.1:11211", Weight: 600},
		"::1:1":              {ID: "::1", Weight: 1},
		"узел:1e2":           {ID: "узел", Weight: 100},
	} {
		if m, err := ParseMember(text); err != nil || m.ID != want.ID || m.Weight != want.Weight {
			t.Errorf("%q: %+v, %v", text, m, err)
		}
	}
	for text, want := range map[string]struct {
		err error
		say string
	}{
		"":                             {ErrID, "empty"},
		":2":                           {ErrID, "empty"},
		"a:":                           {ErrWeight, "not a number"},
		"a:x":                          {ErrWeight, "not a number"},
		"a:0":                          {ErrWeight, "not above 0"},
		"a:-1":                         {ErrWeight, "not above 0"},
		"a:NaN":                        {ErrWeight, "not above 0"},
		"a:Inf":                        {ErrWeight, "above 1000"},
		"a:1e999":                      {ErrWeight, "above 1000"},
		"10.0.1.1:11211":               {ErrWeight, "10.0.1.1:11211:1"},
		"a b":                          {ErrID, "spaces"},
		"a,b":                          {ErrID, "commas"},
		"a\x00":                        {ErrID, "printed"},
		"\xff":                         {ErrID, "UTF-8"},
		strings.Repeat("n", 256):       {ErrID, "256 bytes"},
		strings.Repeat("n", 1<<20):     {ErrID, "bytes"},
		"a:" + strings.Repeat("9", 99): {ErrWeight, "above 1000"},
	} {
		_, err := ParseMember(text)
		if !errors.Is(err, want.err) || !strings.Contains(err.Error(), want.say) || len(err.Error()) > 700 {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func FuzzParseMember(f *testing.F) {
	f.Add("a:2")
	f.Add("10.0.1.1:11211")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMember(s)
		if err != nil {
			return
		}
		if m.ID == "" || !(m.Weight > 0 && m.Weight <= MaxWeight) || m.Validate() != nil {
			t.Fatalf("%q: %+v", s, m)
		}
	})
}

func TestEveryFaultOfMembersIsNamed(t *testing.T) {
	_, err := SortedMembers([]Member{
		{ID: "b", Weight: math.NaN()}, {ID: "a", Weight: 1}, {ID: "", Weight: 1}, {ID: "a", Weight: 1}, {ID: "a", Weight: 1},
		{ID: "p", Weight: 1, OnlyPins: true},
	})
	for _, want := range []error{ErrWeight, ErrDuplicate, ErrID, ErrPins} {
		if !errors.Is(err, want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if n := strings.Count(err.Error(), ErrDuplicate.Error()); n != 1 {
		t.Errorf("a is called a duplicate %d times", n)
	}
}

func TestQuotas(t *testing.T) {
	weigh := func(weights ...float64) (members []Member) {
		for _, w := range weights {
			members = append(members, Member{Weight: w})
		}
		return members
	}
	for _, tt := range []struct {
		members []Member
		copies  int
		want    []float64
	}{
		{weigh(1), 1, []float64{1}},
		{weigh(1, 1), 2, []float64{1, 1}},
		{weigh(1, 1, 1, 1), 2, []float64{.5, .5, .5, .5}},
		{weigh(3, 1), 1, []float64{.75, .25}},
		{weigh(100, 1, 1), 2, []float64{1, .5, .5}},
		{weigh(100, 10, 1, 1), 3, []float64{1, 1, .5, .5}},
		{weigh(5, 4, 3), 3, []float64{1, 1, 1}},
		{weigh(6, 3, 2, 1), 2, []float64{1, .5, 1. / 3, 1. / 6}},
	} {
		got := Quotas(tt.members, tt.copies)
		for i := range got {
			if math.Abs(got[i]-tt.want[i]) > 1e-9 {
				t.Errorf("%+v, %d copies: %v, want %v", tt.members, tt.copies, got, tt.want)
				break
			}
		}
	}
}
