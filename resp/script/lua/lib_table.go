package lua

// OpenTable returns the library table.
func OpenTable(t *Thread) *Table {
	return t.libraryOf([]libraryFunction{
		{"concat", tableConcat}, {"foreach", tableForeach}, {"foreachi", tableForeachi}, {"getn", tableGetn}, {"maxn", tableMaxn},
		{"insert", tableInsert}, {"remove", tableRemove}, {"setn", tableSetn}, {"sort", tableSort},
	})
}

const (
	tableSlice = 1 << 10 // elements that a loop passes between two steps
	numberRoom = 24      // bytes of the longest text of a number
)

func tableConcat(t *Thread) int {
	separator := t.OptString(2, "")
	list := t.CheckTable(1)
	i := t.optInt32(3, 1)
	last := t.optInt32(4, list.Len())
	size := 0
	for at := i; at <= last; at++ {
		if at%tableSlice == 0 {
			t.Step(tableSlice)
		}
		switch v := list.GetInt(at); v.Kind() {
		case KindString:
			size += len(v.Text())
		case KindNumber:
			size += numberRoom
		default:
			t.Errorf("invalid value (%s) at index %d in table for 'concat'", v.Kind(), at)
		}
		size += len(separator)
	}
	t.state.alloc(stringBytes + size)
	b := make([]byte, 0, size)
	for noted := 0; i <= last; i++ {
		text, _ := ToText(list.GetInt(i))
		b = append(b, text...)
		if i < last {
			b = append(b, separator...)
		}
		if len(b)-noted > copySlice {
			t.Step(len(b) - noted)
			noted = len(b)
		}
	}
	if len(b) < size-size/8 { // numbers that are shorter than they may be
		b = append([]byte(nil), b...)
	}
	return t.push1(String(stringOf(b)))
}

// callPair calls the function at argument 2 with a key and its value, and reports whether its
// result, which stays on the stack, ends the loop.
func callPair(t *Thread, key, value Value) (done bool) {
	t.Push(t.Arg(2))
	t.Push(key)
	t.Push(value)
	t.Call(2, 1)
	if !t.Top(1).IsNil() {
		return true
	}
	t.Pop()
	return false
}

func tableForeach(t *Thread) int {
	list := t.CheckTable(1)
	t.CheckFunction(2)
	for key := Nil; ; {
		k, v, ok := list.Next(key)
		if !ok {
			t.Errorf("invalid key to 'next'")
		}
		if k.IsNil() {
			return 0
		}
		if callPair(t, k, v) {
			return 1
		}
		key = k
	}
}

func tableForeachi(t *Thread) int {
	list := t.CheckTable(1)
	n := list.Len()
	t.CheckFunction(2)
	for i := 1; i <= n; i++ {
		if callPair(t, Number(float64(i)), list.GetInt(i)) {
			return 1
		}
	}
	return 0
}

func tableGetn(t *Thread) int { return t.push1(Number(float64(t.CheckTable(1).Len()))) }

func tableMaxn(t *Thread) int {
	list := t.CheckTable(1)
	most := 0.0
	for key, n := Nil, 0; ; n++ {
		if n%tableSlice == tableSlice-1 {
			t.Step(tableSlice)
		}
		k, _, ok := list.Next(key)
		if !ok || k.IsNil() {
			break
		}
		if k.IsNumber() && k.Float() > most {
			most = k.Float()
		}
		key = k
	}
	return t.push1(Number(most))
}

func tableSetn(t *Thread) int {
	t.CheckTable(1)
	t.Errorf("'setn' is obsolete")
	return 0
}

func tableInsert(t *Thread) int {
	list := t.CheckTable(1)
	end := list.Len() + 1
	switch t.NArgs() {
	case 2:
		if end <= len(list.array) && !list.readonly {
			list.array[end-1] = t.Arg(2)
		} else {
			t.SetInt(list, end, t.Arg(2))
		}
	case 3:
		at := t.CheckInt32(2)
		for i := max(end, at); i > at; i-- {
			if i%tableSlice == 0 {
				t.Step(tableSlice)
			}
			t.SetInt(list, i, list.GetInt(i-1))
		}
		t.SetInt(list, at, t.Arg(3))
	default:
		t.Errorf("wrong number of arguments to 'insert'")
	}
	return 0
}

func tableRemove(t *Thread) int {
	list := t.CheckTable(1)
	end := list.Len()
	at := t.optInt32(2, end)
	if at < 1 || at > end {
		return 0
	}
	t.Push(list.GetInt(at))
	if at == end && end <= len(list.array) && !list.readonly {
		list.array[end-1] = Nil
		return 1
	}
	for ; at < end; at++ {
		if at%tableSlice == 0 {
			t.Step(tableSlice)
		}
		t.SetInt(list, at, list.GetInt(at+1))
	}
	t.SetInt(list, end, Nil)
	return 1
}
