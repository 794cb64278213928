package database

import (
	"encoding/json"
	"errors"
	"slices"
)

// OrderName is the name of the agreed value that holds the [Order] of a cluster.
const OrderName = "databases/order"

// An Order says which data the numbered databases show since some were swapped. The number in the head of a
// stored key names the data; it never changes. Before the first swap, database n shows data n. So a swap
// exchanges two entries here, and no key moves. An Order never changes. nil is the order before the first swap.
type Order struct {
	// Count is how many swaps there have been. It tells one order from all others.
	Count uint64 `json:"swaps"`
	// Changed are the databases that were swapped at least once, in the order of their numbers.
	Changed []Shown `json:"databases,omitempty"`
	// Swap is the one that is under way: until it has ended, requests for both databases wait.
	Swap *Swap `json:"swap,omitempty"`
}

// A Shown is a database that was swapped.
type Shown struct {
	Number int `json:"number"`
	Data   int `json:"data"`
	// Since is the Count of the last swap of the database.
	Since uint64 `json:"since"`
}

// A Swap is one that is under way.
type Swap struct {
	A int `json:"a"`
	B int `json:"b"`
	// Change tells it from all other swaps; never 0.
	Change uint64 `json:"change,string"`
}

var errOrder = errors.New("an order of databases that cannot be")

// ParseOrder reads the body of the agreed value; nil if that is empty.
func ParseOrder(body string) (*Order, error) {
	if body == "" {
		return nil, nil
	}
	o := new(Order)
	if err := json.Unmarshal([]byte(body), o); err != nil {
		return nil, err
	}
	numbers, data := map[int]bool{}, map[int]bool{}
	for _, s := range o.Changed {
		numbers[s.Number], data[s.Data] = true, true
		if s.Number < 0 || s.Number >= Limit || s.Since == 0 || s.Since > o.Count {
			return nil, errOrder
		}
	}
	for n := range data {
		if !numbers[n] {
			return nil, errOrder
		}
	}
	if len(o.Changed) == 0 {
		o.Changed = nil
	}
	w := o.Swap
	switch {
	case len(numbers) != len(o.Changed) || len(data) != len(numbers),
		!slices.IsSortedFunc(o.Changed, func(a, b Shown) int { return a.Number - b.Number }),
		w != nil && (w.Change == 0 || w.A == w.B || min(w.A, w.B) < 0 || max(w.A, w.B) >= Limit):
		return nil, errOrder
	}
	return o, nil
}

// Body returns the order as the body of the agreed value.
func (o *Order) Body() string {
	b, _ := json.Marshal(o) // of numbers
	return string(b)
}

// Shown returns the entry of a database.
func (o *Order) Shown(n int) Shown {
	if o != nil {
		for _, s := range o.Changed {
			if s.Number == n {
				return s
			}
		}
	}
	return Shown{Number: n, Data: n}
}

// Number returns the database that shows the data of a head.
func (o *Order) Number(head Head) int {
	if o != nil {
		for _, s := range o.Changed {
			if s.Data == head.Number() {
				return s.Number
			}
		}
	}
	return head.Number()
}

// Swaps returns Count.
func (o *Order) Swaps() uint64 {
	if o == nil {
		return 0
	}
	return o.Count
}

// Change returns the Change of the swap that is under way; 0 if there is none.
func (o *Order) Change() uint64 {
	if o == nil || o.Swap == nil {
		return 0
	}
	return o.Swap.Change
}

// holds reports whether the data of a head is about to be shown by another database.
func (o *Order) holds(head Head) bool {
	return o.Change() != 0 && (o.Shown(o.Swap.A).Data == head.Number() || o.Shown(o.Swap.B).Data == head.Number())
}

// Begin returns the order with a swap under way. There must not be one.
func (o *Order) Begin(w Swap) *Order {
	next := Order{Swap: &w}
	if o != nil {
		next.Count, next.Changed = o.Count, o.Changed
	}
	return &next
}

// End returns the order after the swap that is under way, or with swaps false the one without it.
func (o *Order) End(swaps bool) *Order {
	next := &Order{Count: o.Count, Changed: o.Changed}
	if !swaps {
		return next
	}
	next.Count++
	a, b := o.Shown(o.Swap.A), o.Shown(o.Swap.B)
	a.Data, b.Data, a.Since, b.Since = b.Data, a.Data, next.Count, next.Count
	next.Changed = slices.DeleteFunc(slices.Clone(o.Changed), func(s Shown) bool { return s.Number == a.Number || s.Number == b.Number })
	next.Changed = append(next.Changed, a, b)
	slices.SortFunc(next.Changed, func(a, b Shown) int { return a.Number - b.Number })
	return next
}
