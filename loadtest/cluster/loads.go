package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/load"
)

// A Piece is a range that one node serves, with its load and what lies in it.
type Piece struct {
	Range ring.Range
	Node  string
	load.Rate
	Holding
}

// Loads are the loads on all ranges at one time, and who has the ranges.
type Loads struct {
	Pieces    []Piece // in the order of their nodes, no longer than a cell of package load
	Placement *ring.Placement
}

// loadsPatience is how long a node may take to list its ranges, which are thousands.
const loadsPatience = 20 * time.Second

// wordsOfPiece is how many words a node replies for each range.
const wordsOfPiece = 5

// Loads asks the nodes that are up for the loads on their ranges.
func (w *Watch) Loads(ctx context.Context) (*Loads, error) {
	if err := w.look(ctx); err != nil {
		return nil, err
	}
	w.looking.Lock()
	defer w.looking.Unlock()
	up := w.up()
	l := new(Loads)
	pieces, faults := make([][]Piece, len(up)), make([]error, len(up))
	var asking sync.WaitGroup
	for i, n := range up {
		asking.Go(func() { pieces[i], faults[i] = n.loads(ctx) })
	}
	asking.Wait()
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("cluster: load on ranges: %w", err)
	}
	l.Pieces = slices.Concat(pieces...)
	slices.SortStableFunc(l.Pieces, func(a, b Piece) int { return cmp.Compare(a.Node, b.Node) })
	var err error
	l.Placement, err = readPlacement(up[0].line.do(ctx, "RING", "PLACEMENT"))
	return l, err
}

// loads asks one node. The connection stays usable unless it fails.
func (n *watched) loads(ctx context.Context) ([]Piece, error) {
	defer n.line.bound(ctx, loadsPatience)()
	n.line.AddWords("LOADLEVELS", "RANGES", strconv.Itoa(load.Cells))
	if err := n.line.Flush(); err != nil {
		return nil, err
	}
	words, err := n.line.Strings()
	if err != nil {
		return nil, err
	}
	return readPieces(n.ID, words)
}

func readPieces(node string, words []string) (all []Piece, err error) {
	if len(words)%wordsOfPiece != 0 {
		return nil, fmt.Errorf("%s: %d words are not %d for each range", node, len(words), wordsOfPiece)
	}
	for of := range slices.Chunk(words, wordsOfPiece) {
		p := Piece{Node: node}
		if p.Range, err = ring.ParseRange(of[0]); err != nil {
			return nil, fmt.Errorf("%s: %w", node, err)
		}
		for i, to := range []*float64{&p.Ops, &p.Rate.Bytes} {
			if *to, err = strconv.ParseFloat(of[1+i], 64); err != nil {
				return nil, fmt.Errorf("%s: load on %v: %w", node, p.Range, err)
			}
		}
		for i, to := range []*int64{&p.Keys, &p.Holding.Bytes} {
			if *to, err = strconv.ParseInt(of[3+i], 10, 64); err != nil {
				return nil, fmt.Errorf("%s: content of %v: %w", node, p.Range, err)
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// byNode are the costs that nodes have with a placement.
func (l *Loads) byNode(p *ring.Placement) map[string]float64 {
	all := make(map[string]float64)
	for i := range l.Pieces {
		all[p.Lookup(l.Pieces[i].Range.Start).Primary] += l.Pieces[i].Cost()
	}
	return all
}

// Chart sums up the load on the cells of the circle, and on nodes.
func (l *Loads) Chart(began time.Time) result.Loads {
	c := result.Loads{AtMS: milliseconds(time.Since(began)), PerSecond: make([]float64, circleCells)}
	rates := make(map[ring.Range]float64) // of the ranges of the placement
	for i := range l.Pieces {
		p := &l.Pieces[i] // not longer than a cell of the chart, nor across its bounds
		c.PerSecond[uint64(p.Range.Start)*circleCells>>32] += p.Ops
		if last := len(c.Nodes) - 1; last < 0 || c.Nodes[last].Node != p.Node {
			c.Nodes = append(c.Nodes, result.NodeLoad{Node: p.Node})
			clear(rates)
		}
		n := &c.Nodes[len(c.Nodes)-1]
		n.PerSecond += p.Ops
		n.BytesPerSecond += p.Rate.Bytes
		of := l.Placement.Lookup(p.Range.Start).Range
		rates[of] += p.Ops
		if n.Hottest == "" || rates[of] > n.HottestRate {
			n.Hottest, n.HottestRate = of.String(), rates[of]
		}
	}
	hundredth := func(x *float64) { *x = math.Round(100**x) / 100 }
	for i := range c.PerSecond {
		hundredth(&c.PerSecond[i])
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		hundredth(&n.PerSecond)
		hundredth(&n.BytesPerSecond)
		hundredth(&n.HottestRate)
	}
	return c
}

// LeastLoad is what has to be copied at the least for nodes to have the load that they have with another
// placement: each that has less of it then gives away the ranges with the most load for their bytes. What
// another node has a copy of costs nothing, as far as the load of that node grows.
func LeastLoad(before *Loads, after *ring.Placement) Holding {
	was, is := before.byNode(before.Placement), before.byNode(after)
	pieces := slices.Clone(before.Pieces)
	slices.SortStableFunc(pieces, func(a, b Piece) int {
		return cmp.Compare(float64(a.Holding.Bytes)*b.Cost(), float64(b.Holding.Bytes)*a.Cost())
	})
	var keys, bytes float64
	for node, cost := range was {
		left := cost - is[node]
		copies := make(map[string]float64) // the load of what others have copies of
		for i := range pieces {
			if p := &pieces[i]; p.Node == node {
				for _, backup := range before.Placement.Lookup(p.Range.Start).Backups {
					copies[backup] += p.Cost()
				}
			}
		}
		for backup, cost := range copies {
			left -= min(cost, max(0, is[backup]-was[backup]))
		}
		for i := range pieces {
			if p := &pieces[i]; p.Node == node && left > 0 && p.Cost() > 0 {
				part := min(1, left/p.Cost())
				keys += part * float64(p.Keys)
				bytes += part * float64(p.Holding.Bytes)
				left -= part * p.Cost()
			}
		}
	}
	return Holding{Keys: int64(math.Round(keys)), Bytes: int64(math.Round(bytes))}
}
