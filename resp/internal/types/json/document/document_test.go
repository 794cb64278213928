package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// text returns the text of a value.
func text(t testing.TB, v *Value) string {
	t.Helper()
	e := Encoder{Limit: math.MaxInt64}
	if e.Value(v, 0); e.Err() != nil {
		t.Fatal(e.Err())
	}
	return string(e.Buf)
}

func parsed(t testing.TB, s string) *Value {
	t.Helper()
	v, err := Parse([]byte(s), nil)
	if err != nil {
		t.Fatalf("%.100s: %v", s, err)
	}
	return v
}

// FuzzParse compares with encoding/json: the same texts are JSON, but for the limits that are here alone, they mean the
// same, and what is written is read as the same again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "null", "[]", `{"a":[1,-0,1.5e3,1e400,18446744073709551615],"b":{"c":"\u00e4\ud83d\ude00\ud800"}}`, `[1,]`, `{"a":1,}`, `{"a":1,"a":2}`,
		"\"\x01\"", `"\x"`, "01", "-", "1.", "1e", "tru", "[[[[", `{"":{}} x`, " [ 1 , 2 ] ", "\xff", `"\u12"`, strings.Repeat("[", 200), "0.1e-320",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Parse(data, nil)
		var syntax *SyntaxError
		switch {
		case err == nil:
		case errors.Is(err, ErrUTF8):
			return
		case !errors.As(err, &syntax):
			t.Fatal(err)
		case json.Valid(data):
			for _, limit := range []string{ErrDepth.Error(), "number out of range", "lone surrogate found"} {
				if syntax.Reason == limit {
					return
				}
			}
			t.Fatalf("%q is JSON: %v", data, err)
		default:
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is not JSON", data)
		}
		once := text(t, v)
		var want, got any
		if json.Unmarshal(data, &want) == nil {
			if err := json.Unmarshal([]byte(once), &got); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%q became %s: %v", data, once, err)
			}
		}
		again := parsed(t, once)
		if text(t, again) != once || !again.Equal(v, nil) || !v.Equal(again, nil) {
			t.Fatalf("%s became %s", once, text(t, again))
		}
	})
}

func TestParseBoundsDepthAndMemory(t *testing.T) {
	deepest := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	if got := text(t, parsed(t, deepest)); got != deepest {
		t.Error(got)
	}
	for _, open := range []string{"[", `{"a":`} {
		var syntax *SyntaxError
		_, err := Parse([]byte(strings.Repeat(open, 1_000_000)), nil)
		if !errors.As(err, &syntax) || syntax.Reason != ErrDepth.Error() {
			t.Errorf("%.200v", err)
		}
	}
	asked := int64(0)
	large := []byte("[" + strings.Repeat("0,", 1_000_000) + "0]")
	_, err := Parse(large, func(n int64) bool {
		asked += n
		return asked < 4<<20
	})
	if !errors.Is(err, ErrMemory) || asked > 5<<20 {
		t.Errorf("%v after %d bytes", err, asked)
	}
	e := Encoder{Limit: 1000}
	if e.Value(parsed(t, string(large)), 0); !errors.Is(e.Err(), ErrTooLarge) || len(e.Buf) > 2000 {
		t.Errorf("%v after %d bytes", e.Err(), len(e.Buf))
	}
	outer := parsed(t, deepest)
	inner := outer
	for inner.Len() > 0 {
		inner = inner.At(0)
	}
	inner.Insert(0, []*Value{parsed(t, "[]")})
	e = Encoder{Limit: math.MaxInt64}
	if e.Value(outer, 0); !errors.Is(e.Err(), ErrDepth) {
		t.Error(e.Err())
	}
}

func TestDoublesAreWrittenAsRedisJSONDoes(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 100: "100.0", 1e15: "1000000000000000.0", 1e16: "1e16", 123456789012345680: "1.2345678901234568e17",
		0.1: "0.1", 0.00001: "0.00001", 0.000001: "1e-6", 1.5e-7: "1.5e-7", 1e300: "1e300", math.Copysign(0, -1): "-0.0", 5e-324: "5e-324",
		1234567890123456.5: "1234567890123456.5",
	} {
		if got := string(appendDouble(nil, f)); got != want {
			t.Errorf("%v is written as %s, not %s", f, got, want)
		}
	}
	for range 10_000 {
		f := math.Float64frombits(rand.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		if back, err := strconv.ParseFloat(string(appendDouble(nil, f)), 64); err != nil || back != f {
			t.Fatalf("%v became %v: %v", f, back, err)
		}
	}
}

// drawValue draws a value as package encoding/json has it, and few names, so that members meet.
func drawValue(rnd *rand.Rand, depth int) any {
	switch n := rnd.IntN(8); {
	case n < 2 && depth > 0:
		list := make([]any, rnd.IntN(4))
		for i := range list {
			list[i] = drawValue(rnd, depth-1)
		}
		return list
	case n < 5 && depth > 0:
		object := map[string]any{}
		for range rnd.IntN(30) * rnd.IntN(2) {
			object[fmt.Sprint("k", rnd.IntN(25))] = drawValue(rnd, depth-1)
		}
		return object
	case n == 5:
		return nil
	case n == 6:
		return fmt.Sprint("s", rnd.IntN(3))
	}
	return float64(rnd.IntN(4))
}

// merged is what RFC 7396 says in its section 2, on values of package encoding/json.
func merged(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	object, ok := target.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	for name, value := range changes {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = merged(object[name], value)
		}
	}
	return object
}

func TestMergeIsThatOfRFC7396(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	encode := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for range 2000 {
		a, b := drawValue(rnd, 4), drawValue(rnd, 4)
		from, patchText := encode(a), encode(b)
		v, patch := parsed(t, from), parsed(t, patchText)
		if err := v.Merge(patch, func(int64) bool { return true }); err != nil {
			t.Fatal(err)
		}
		if want := parsed(t, encode(merged(a, b))); !v.Equal(want, nil) {
			t.Fatalf("%s with %s became %s, not %s", from, patchText, text(t, v), text(t, want))
		}
		if text(t, patch) != text(t, parsed(t, patchText)) {
			t.Fatalf("the patch has changed")
		}
	}
}

func TestMembersKeepTheirOrder(t *testing.T) {
	v := parsed(t, `{"z":1,"a":2,"m":{"y":1,"b":2}}`)
	if err := v.Merge(parsed(t, `{"a":null,"c":{"x":null,"d":1},"m":{"b":3}}`), nil); err != nil {
		t.Fatal(err)
	}
	if got := text(t, v); got != `{"z":1,"m":{"y":1,"b":3},"c":{"d":1}}` {
		t.Error(got)
	}
}
