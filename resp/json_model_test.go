package resp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store/rdb"
)

// A place is where a value of a model lies: what changes it there, or nothing if it is the root.
type place struct {
	path  string
	value any
	set   func(any)
	// remove takes the value out of what holds it.
	remove func()
}

// places lists all values of a model with their paths.
func places(path string, v any, set func(any), remove func()) []place {
	all := []place{{path, v, set, remove}}
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			all = append(all, places(path+"."+key, item, func(x any) { v[key] = x }, func() { delete(v, key) })...)
		}
	case []any:
		for i, item := range v {
			all = append(all, places(fmt.Sprintf("%s[%d]", path, i), item, func(x any) { v[i] = x }, func() {
				set(append(append([]any{}, v[:i]...), v[i+1:]...))
			})...)
		}
	}
	return all
}

func drawJSON(rnd *rand.Rand, depth int) any {
	switch n := rnd.IntN(9); {
	case n < 3 && depth > 0:
		list := []any{}
		for range rnd.IntN(4) {
			list = append(list, drawJSON(rnd, depth-1))
		}
		return list
	case n < 6 && depth > 0:
		object := map[string]any{}
		for range rnd.IntN(5) {
			object[string(rune('a'+rnd.IntN(6)))] = drawJSON(rnd, depth-1)
		}
		return object
	case n == 6:
		return nil
	case n == 7:
		return rnd.IntN(2) == 0
	case n == 8:
		return strings.Repeat("s\n\"ä", rnd.IntN(3))
	}
	return float64(rnd.IntN(100))
}

// Edits of a value at random places leave what they leave of a model in Go, and reply as the model says.
func TestJSONEditsAreThoseOfAModel(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 40))
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	encode := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var model any
	reset := func() {
		model = drawJSON(rnd, 4)
		o.Want("+OK", "JSON.SET", "k", "$", encode(model))
	}
	reset()
	kinds := map[string]int{}
	for range randomtest.Length(4000, 800) {
		all := places("$", model, func(x any) { model = x }, nil)
		p := all[rnd.IntN(len(all))]
		value := drawJSON(rnd, 2)
		var got, want, did string
		do := func(expected string, args ...string) {
			did, want = strings.Join(args, " "), expected
			got = o.Do(append([]string{args[0], "k"}, args[1:]...)...).String()
			kinds[args[0]]++
		}
		list, isList := p.value.([]any)
		number, isNumber := p.value.(float64)
		text, isText := p.value.(string)
		flag, isFlag := p.value.(bool)
		object, isObject := p.value.(map[string]any)
		n := len(list)
		switch i := rnd.IntN(8); {
		case i == 0 && len(all) < 200:
			do("+OK", "JSON.SET", p.path, encode(value))
			p.set(value)
		case i == 1 && p.remove != nil:
			do(":1", "JSON.DEL", p.path)
			p.remove()
		case i == 2 && isObject && len(all) < 200:
			_, there := object["new"]
			do(map[bool]string{false: "+OK", true: "_$"}[there], "JSON.SET", p.path+".new", encode(value), "NX")
			if !there {
				object["new"] = value
			}
		case i == 3:
			cleared := isList && n > 0 || isObject && len(object) > 0 || isNumber && number != 0
			do(map[bool]string{false: ":0", true: ":1"}[cleared], "JSON.CLEAR", p.path)
			switch {
			case isList:
				p.set([]any{})
			case isObject:
				p.set(map[string]any{})
			case isNumber:
				p.set(0.0)
			}
		case isList && i == 4 && len(all) < 200:
			at := rnd.IntN(n + 1)
			do(fmt.Sprintf("*(:%d)", n+2), "JSON.ARRINSERT", p.path, fmt.Sprint(at), encode(value), "7")
			p.set(append(append(append([]any{}, list[:at]...), value, 7.0), list[at:]...))
		case isList && i == 5 && n > 0:
			at := rnd.IntN(n)
			did = "JSON.ARRPOP " + p.path
			var popped any
			reply := o.Do("JSON.ARRPOP", "k", p.path, fmt.Sprint(at))
			if err := json.Unmarshal([]byte(reply.Elems[0].Text), &popped); err != nil || !reflect.DeepEqual(popped, list[at]) {
				t.Fatalf("%s: %s, not %s", did, reply, encode(list[at]))
			}
			p.set(append(append([]any{}, list[:at]...), list[at+1:]...))
		case isList && i == 6:
			from, to := rnd.IntN(n+1), rnd.IntN(n+1)
			left := []any{}
			if from <= to {
				left = append(left, list[from:min(to+1, n)]...)
			}
			do(fmt.Sprintf("*(:%d)", len(left)), "JSON.ARRTRIM", p.path, fmt.Sprint(from), fmt.Sprint(to))
			p.set(left)
		case isList && len(all) < 200:
			do(fmt.Sprintf("*(:%d)", n+1), "JSON.ARRAPPEND", p.path, encode(value))
			p.set(append(append([]any{}, list...), value))
		case isNumber:
			by := rnd.IntN(50) - 25
			do(fmt.Sprintf("$[%d]", int(number)+by), "JSON.NUMINCRBY", p.path, fmt.Sprint(by))
			p.set(number + float64(by))
		case isText && len(text) < 1000:
			do(fmt.Sprintf("*(:%d)", len(text)+3), "JSON.STRAPPEND", p.path, `"é\t"`)
			p.set(text + "é\t")
		case isFlag:
			do(map[bool]string{false: "*(:1)", true: "*(:0)"}[flag], "JSON.TOGGLE", p.path)
			p.set(!flag)
		}
		if got != want {
			t.Fatalf("%s\n got %s\nwant %s", did, got, want)
		}
		if o.Do("EXISTS", "k").String() == ":0" { // JSON.DEL has taken the last element
			reset()
			continue
		}
		var now any
		if reply := o.Do("JSON.GET", "k"); json.Unmarshal([]byte(reply.Text), &now) != nil || !reflect.DeepEqual(now, model) {
			t.Fatalf("%s\n got %s\nwant %s", did, reply, encode(model))
		}
		if rnd.IntN(100) == 0 {
			o.Want("+OK", "RESTORE", "copy", "0", o.Do("DUMP", "k").Text, "REPLACE")
			if a, b := o.Do("JSON.GET", "copy").Text, o.Do("JSON.GET", "k").Text; a != b {
				t.Fatalf("DUMP of %s became %s", b, a)
			}
			reset()
		}
	}
	if len(kinds) < 8 {
		t.Errorf("few commands were tried: %v", kinds)
	}
}

// What clients may send at worst is answered with an error, in bounded time and memory.
func TestHostileJSONIsRefused(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	deep := strings.Repeat("[", 1_000_000)
	for _, args := range [][]string{
		{"JSON.SET", "k", "$", deep}, {"JSON.SET", "k", "$", strings.Repeat(`{"a":`, 1_000_000)}, {"JSON.SET", "k", "$", deep + strings.Repeat("]", 1_000_000)},
		{"RESTORE", "k", "0", string(rdb.EndModule(rdb.AppendPiece(rdb.BeginModule(nil, rdb.JSONType), []byte(deep)), 0))},
		{"RESTORE", "k", "0", string(rdb.EndModule(rdb.AppendPiece(rdb.BeginModule(nil, rdb.JSONType), []byte("\xff")), 0))},
		{"JSON.SET", "k", "$" + strings.Repeat(".a", 1_000_000), "1"}, {"JSON.SET", "k", strings.Repeat("$[?", 20_000), "1"},
		{"JSON.GET", "wide", "$" + strings.Repeat("..*", 100)},
		{"JSON.SET", "wide", "$..*", `"` + strings.Repeat("x", 1<<20) + `"`}, // 100,000 times
	} {
		o.Want("+OK", "JSON.SET", "wide", "$", "["+strings.Repeat("[1,[2]],", 20_000)+"0]")
		if got := o.Do(args...).String(); got[0] != '-' && args[1] != "wide" {
			t.Errorf("%.40q: %.200s", args, got)
		}
	}
	o.Want(":0", "EXISTS", "k")
	// What would look at too much, or take too much memory, is an error that says so.
	patterns, paths, long := "", []string{"JSON.GET", "flat"}, []string{"JSON.GET", "flat"}
	for i := range 2000 {
		patterns += fmt.Sprintf(`||@=~"^\pL{%d}"`, 900-i%50)
		paths = append(paths, fmt.Sprintf("$..x%d", i))
		long = append(long, fmt.Sprintf("$[%d", i)+strings.Repeat(",0", 32_000)+"]")
	}
	o.Want("+OK", "JSON.SET", "flat", "$", "[["+strings.Repeat("0,", 100_000)+"0]]")
	o.Want("+OK", "JSON.SET", "text", "$", `{"s":"`+strings.Repeat("ab", 1<<20)+`","p":"(a|b|ab)*c{1000}","l":[`+strings.Repeat("0,", 100_000)+"0]}")
	for _, c := range []struct {
		refusal string
		args    []string
	}{
		{"looks at too many values", []string{"JSON.ARRINDEX", "flat", "$[0" + strings.Repeat(",0", 30_000) + "]", "1"}},
		{"looks at too many values", []string{"JSON.GET", "text", "$.l[?($.s==$.s && @==1)]"}},
		{"looks at too many values", []string{"JSON.GET", "text", `$.l[?($.s=~"(a|b|ab)*c{1000}")]`}},
		{"looks at too many values", []string{"JSON.GET", "text", `$.l[?($.s=~$.p)]`}},
		{"looks at too many values", paths},
		{"the regular expressions are too large", []string{"JSON.GET", "flat", "$[?(@" + patterns + ")]"}},
		{"not enough memory", long},
		{"not enough memory", []string{"JSON.ARRAPPEND", "wide", "$..*..*", "[" + strings.Repeat("1,", 10_000) + "1]", strings.Repeat("[", 100) + strings.Repeat("]", 100)}},
	} {
		if got := o.Do(c.args...).String(); got[0] != '-' || !strings.Contains(got, c.refusal) {
			t.Errorf("%.60q: %.200s", c.args, got)
		}
	}
	// A comparison looks at no more than the smaller value.
	o.Want("$[]", "JSON.GET", "flat", "$..[?($==[])]")
	// A value grows step by step, but not beyond the depth.
	o.Want("+OK", "JSON.SET", "k", "$", "[]")
	path, depth := "$", 1
	for ; depth < 200; depth++ {
		if got := o.Do("JSON.ARRAPPEND", "k", path, "[]").String(); got != "*(:1)" {
			if got != "-ERR recursion limit exceeded" {
				t.Error(got)
			}
			break
		}
		path += "[0]"
	}
	if depth != 127 {
		t.Errorf("%d levels", depth)
	}
}

// matched returns the values of a model that a path finds which ends with a step below every value.
func matched(all []place, ends func(path string) bool) (found []string) {
	for _, p := range all[1:] {
		if !ends(p.path) {
			continue
		}
		b, _ := json.Marshal(p.value)
		found = append(found, string(b))
	}
	slices.Sort(found)
	return found
}

// Paths that find several values find those that a walk through a model in Go finds, and edit all of them.
func TestJSONPathsFindWhatAModelFinds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(randomtest.Seed(t), 41))
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	get := func(path string) (found []string) {
		var values []any
		reply := o.Do("JSON.GET", "k", path)
		if err := json.Unmarshal([]byte(reply.Text), &values); err != nil {
			t.Fatalf("%s: %s", path, reply)
		}
		for _, v := range values {
			b, _ := json.Marshal(v)
			found = append(found, string(b))
		}
		slices.Sort(found)
		return found
	}
	for range randomtest.Length(1000, 100) {
		var model any = []any{drawJSON(rnd, 5), drawJSON(rnd, 4)}
		text, _ := json.Marshal(model)
		o.Want("+OK", "JSON.SET", "k", "$", string(text))
		all := places("$", model, nil, nil)
		name := string(rune('a' + rnd.IntN(6)))
		index := rnd.IntN(3)
		for path, ends := range map[string]func(string) bool{
			"$..*":                        func(string) bool { return true },
			"$..['" + name + "']":         func(p string) bool { return strings.HasSuffix(p, "."+name) },
			"$.*.*":                       func(p string) bool { return strings.Count(p, ".")+strings.Count(p, "[") == 2 },
			fmt.Sprintf("$..[%d]", index): func(p string) bool { return strings.HasSuffix(p, fmt.Sprintf("[%d]", index)) },
			"$.." + name + "[*]": func(p string) bool {
				return strings.HasSuffix(p[:strings.LastIndexAny(p, "[.")], "."+name)
			},
		} {
			if got, want := get(path), matched(all, ends); !slices.Equal(got, want) {
				t.Fatalf("%s in %s\n got %s\nwant %s", path, text, got, want)
			}
		}
		// Values within others that are removed, or replaced, do not matter.
		path, outer := "$.."+name, 0
		for _, p := range all {
			if strings.HasSuffix(p.path, "."+name) && !strings.Contains(strings.TrimSuffix(p.path, "."+name)+".", "."+name+".") &&
				!strings.Contains(p.path, "."+name+"[") {
				outer++
			}
		}
		if rnd.IntN(2) == 0 {
			o.Want(fmt.Sprintf(":%d", outer), "JSON.DEL", "k", path)
			if left := get(path); len(left) != 0 {
				t.Fatalf("%s is left in %s", left, text)
			}
		} else if outer > 0 {
			o.Want("+OK", "JSON.SET", "k", path, `{"x":[1]}`)
			if got := get(path); len(got) != outer || got[0] != `{"x":[1]}` || got[outer-1] != got[0] {
				t.Fatalf("%d values of %s in %s are %s", outer, path, text, got)
			}
			o.Do("JSON.ARRAPPEND", "k", path+".x", "2")
			if got := get(path + ".x"); len(got) != outer || got[0] != "[1,2]" || got[outer-1] != got[0] {
				t.Fatalf("%d lists of %s in %s are %s", outer, path, text, got)
			}
		}
	}
}
