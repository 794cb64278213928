package database

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestSwapsExchangeWhatDatabasesShow compares orders with an array that is swapped likewise.
func TestSwapsExchangeWhatDatabasesShow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const databases = 6
	for range 200 {
		var order *Order
		var policies *Policies
		var shows [databases]int
		for n := range shows {
			shows[n] = n
		}
		policies = policies.With(Policy{Number: 2, Together: true, Spot: 3})
		first := policies
		for i := range uint64(rnd.IntN(12)) {
			w := Swap{A: rnd.IntN(databases), B: rnd.IntN(databases), Change: i + 1}
			if w.A == w.B {
				continue
			}
			before, ends := policies.Ordered(order.bodyOrNone(), nil), rnd.IntN(4) > 0
			begun := order.Begin(w)
			during := first.Ordered(begun.Body(), nil)
			for n := range shows {
				held := n == w.A || n == w.B
				if head := before.Head(n); (during.FormAt(head, 0) == Held) != held || during.Head(n) != head {
					t.Fatalf("database %d is held: %t", n, !held)
				}
			}
			if order = begun.End(ends); ends {
				shows[w.A], shows[w.B] = shows[w.B], shows[w.A]
			}
			after := first.Ordered(order.Body(), nil)
			for n, data := range shows {
				now, swapped := after.Renewed(AppendKey(nil, before.Head(n), nil), before)
				if want := first.Of(data).Head(); now != want || after.Data(n) != data || after.Number(now) != n {
					t.Fatalf("database %d shows %d with head %x, want %d with %x", n, after.Data(n), now, data, want)
				}
				if swapped != (ends && (n == w.A || n == w.B)) {
					t.Fatalf("database %d was swapped: %t", n, swapped)
				}
			}
			if after.Swapping() || first.Ordered(order.Body(), after) != after {
				t.Fatal("the same order makes other policies")
			}
			if read, err := ParseOrder(order.Body()); err != nil || !reflect.DeepEqual(read, order) {
				t.Fatalf("%v, %v, want %v", read, err, order)
			}
		}
	}
}

func (o *Order) bodyOrNone() string {
	if o == nil {
		return ""
	}
	return o.Body()
}

// FuzzOrdersThatAreReadArePermutations reads any text as an order: what is taken shows each data once.
func FuzzOrdersThatAreReadArePermutations(f *testing.F) {
	var o *Order
	f.Add(o.Begin(Swap{A: 1, B: 2, Change: 3}).Body())
	f.Add(o.Begin(Swap{A: 1, B: 2, Change: 3}).End(true).Begin(Swap{A: 0, B: 1, Change: 9}).Body())
	f.Add(`{"swaps":1,"databases":[{"number":0,"data":1,"since":1},{"number":1,"data":1,"since":1}]}`)
	f.Add(`{"swap":{"a":-1,"b":0,"change":"1"}}`)
	f.Fuzz(func(t *testing.T, body string) {
		order, err := ParseOrder(body)
		if err != nil {
			if order != nil {
				t.Error("an order with an error")
			}
			return
		}
		for n := range Limit {
			if data := order.Shown(n).Data; order.Number(Head(data)) != n {
				t.Errorf("database %d shows data %d of database %d", n, data, order.Number(Head(data)))
			}
		}
		if again, err := ParseOrder(order.bodyOrNone()); err != nil || !reflect.DeepEqual(order, again) {
			t.Errorf("%v, then %v, %v", order, again, err)
		}
		if order.Change() != 0 {
			_ = order.End(true).Body()
		}
	})
}
