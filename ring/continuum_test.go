package ring

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// naive walks the points from a token on.
func naive(points []uint64, nodes []string, copies int, token Token) []string {
	var owners []string
	first, _ := slices.BinarySearch(points, uint64(token)<<32)
	for i := range points {
		node := nodes[uint32(points[(first+i)%len(points)])]
		if !slices.Contains(owners, node) && len(owners) < copies {
			owners = append(owners, node)
		}
	}
	return owners
}

func TestContinuumIsAWalkAlongThePoints(t *testing.T) {
	rnd := newRand(t)
	for range 300 {
		nodes := make([]string, 1+rnd.IntN(6))
		for i := range nodes {
			nodes[i] = fmt.Sprint("n", i)
		}
		c := NewContinuum(nodes)
		place := func() Token {
			switch rnd.IntN(3) {
			case 0:
				return Token(rnd.IntN(4)) * 5 // some meet
			case 1:
				return -Token(rnd.IntN(4))
			}
			return Token(rnd.Uint32())
		}
		for range 1 + rnd.IntN(12) {
			c.Add(rnd.IntN(len(nodes)), place())
		}
		copies, slots := 1+rnd.IntN(4), rnd.IntN(2) == 0
		p, err := NewPlacement(c.Rows(copies, slots))
		if err != nil {
			t.Fatal(err)
		}
		tokens := []Token{0, 1<<32 - 1, 1, 5, 6}
		for range 50 {
			tokens = append(tokens, Token(rnd.Uint32()))
		}
		for _, point := range c.points {
			tokens = append(tokens, Token(point>>32), Token(point>>32)+1)
		}
		for _, token := range tokens {
			if slots {
				token &^= slotSize - 1
			}
			want := naive(c.points, nodes, copies, token)
			if got := slices.Collect(p.Lookup(token).Copies()); !slices.Equal(got, want) {
				t.Fatalf("%08x, points %x: %v, want %v", token, c.points, got, want)
			}
		}
		for i := range p.rows {
			next := &p.rows[(i+1)%len(p.rows)]
			if slices.Equal(slices.Collect(p.rows[i].Copies()), slices.Collect(next.Copies())) && len(p.rows) > 1 {
				t.Fatalf("%v and %v have the same copies", p.rows[i].Range, next.Range)
			}
			if slots && p.rows[i].Range.Start%slotSize != 0 {
				t.Fatalf("%v cuts a slot", p.rows[i].Range)
			}
		}
	}
}

func BenchmarkContinuum(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	nodes := make([]string, 1000)
	points := make([]Token, 160)
	for i := range nodes {
		nodes[i] = fmt.Sprint("n", i)
	}
	for b.Loop() {
		c := NewContinuum(nodes)
		for i := range nodes {
			for range points {
				c.Add(i, Token(rnd.Uint32()))
			}
		}
		if _, err := NewPlacement(c.Rows(2, false)); err != nil {
			b.Fatal(err)
		}
	}
}
