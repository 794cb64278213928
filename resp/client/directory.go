package client

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// A directory is what a node has told of the placement: all of it at first, then change
// by change. Under the strategy buckets it is a [buckets.Table], which expands when it
// hears of a wider mask. One goroutine at a time uses it.
type directory struct {
	token  ring.TokenFunc
	table  *buckets.Table // nil for other strategies
	pieces []piece
	addrs  map[string]string // where clients find the nodes, by id
}

// A piece goes from its start to that of the next one; the first one's start is 0.
type piece struct {
	start   ring.Token
	epoch   uint64
	primary string
	backups []string
}

// newDirectory takes the fields of RING INFO. Which settings the strategy has does not matter to
// where keys lie, and the strategy itself matters only if it is the one that the cluster was founded
// with. A node of an earlier build names one strategy, since it cannot switch.
func newDirectory(info map[string]string, p *ring.Placement, addrs map[string]string) (*directory, error) {
	name := info["strategy"]
	token, err := strategy.Config{Name: name, Hash: info["hash"], Founding: info["founding_strategy"]}.TokenFunc()
	if err != nil {
		return nil, err
	}
	d := &directory{token: token, addrs: addrs}
	if name == strategy.Buckets {
		// A node that has not heard of its cluster's placement yet has one without
		// buckets.
		if d.table, err = buckets.TableOf(p); err == nil {
			return d, nil
		}
		d.table = nil
	}
	for row := range p.Rows() {
		d.pieces = append(d.pieces, piecesOf(row)...)
	}
	slices.SortFunc(d.pieces, byStart)
	return d, nil
}

func byStart(a, b piece) int {
	if a.start < b.start {
		return -1
	}
	return bit(a.start > b.start)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// piecesOf is two for a range that wraps.
func piecesOf(row *ring.Row) []piece {
	p := piece{start: row.Range.Start, epoch: row.Epoch, primary: row.Primary, backups: row.Backups}
	if !row.Range.Wraps() {
		return []piece{p}
	}
	head := p
	head.start = 0
	return []piece{head, p}
}

// apply takes in changes as they are pushed: a line for each range that is not as it was.
// What belongs to an earlier epoch than what is known is passed over.
func (d *directory) apply(text string) error {
	var rows []ring.Row
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		row, err := parseChange(words)
		if err != nil {
			return fmt.Errorf("%w: change %q: %w", ErrReply, clip([]byte(line)), err)
		}
		mask, notMask := buckets.ParseHashmask(words[0])
		switch {
		case notMask == nil && d.table != nil:
			entry := buckets.Entry{Hashmask: mask, Epoch: row.Epoch, Primary: row.Primary, Backups: row.Backups}
			if err := d.table.Update(entry); err != nil {
				return fmt.Errorf("%w: %w", ErrReply, err)
			}
			continue
		case notMask == nil:
			row.Range = mask.Range()
		default:
			if row.Range, err = ring.ParseRange(words[0]); err != nil {
				return fmt.Errorf("%w: %w", ErrReply, err)
			}
			d.endBuckets()
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		d.patch(rows)
	}
	return nil
}

// endBuckets continues with pieces instead of buckets, once the strategy was switched.
func (d *directory) endBuckets() {
	if d.table == nil {
		return
	}
	for hash := range d.table.Mask() + 1 {
		e := d.entry(hash)
		d.pieces = append(d.pieces, piece{ring.Token(bits.Reverse32(hash)), e.Epoch, e.Primary, e.Backups})
	}
	slices.SortFunc(d.pieces, byStart)
	d.table = nil
}

// parseChange reads what follows a range: epoch=, primary=, backups=.
func parseChange(words []string) (row ring.Row, err error) {
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "epoch":
			if row.Epoch, err = strconv.ParseUint(value, 10, 64); err != nil {
				return row, err
			}
		case "primary":
			row.Primary = value
		case "backups":
			row.Backups = strings.Split(value, ",")
		}
	}
	return row, nil
}

// patch puts rows in the place of what they cover.
func (d *directory) patch(rows []ring.Row) {
	type bound struct {
		row *ring.Row
		end uint64
	}
	changed := make(map[ring.Token]bound)
	starts := make([]ring.Token, 0, len(d.pieces)+2*len(rows))
	for i := range rows {
		row := &rows[i]
		for _, p := range piecesOf(row) {
			end := uint64(row.Range.End)
			if p.start >= row.Range.End { // it goes up to the last token
				end = 1 << 32
			} else {
				starts = append(starts, row.Range.End)
			}
			changed[p.start] = bound{row, end}
			starts = append(starts, p.start)
		}
	}
	for _, p := range d.pieces {
		starts = append(starts, p.start)
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	pieces := make([]piece, 0, len(starts))
	old := -1
	var over bound
	for _, start := range starts {
		for old+1 < len(d.pieces) && d.pieces[old+1].start <= start {
			old++
		}
		if b, ok := changed[start]; ok {
			over = b
		}
		p := d.pieces[old]
		p.start = start
		if uint64(start) < over.end && over.row.Epoch >= p.epoch {
			p = piece{start, over.row.Epoch, over.row.Primary, over.row.Backups}
		}
		if n := len(pieces); n > 0 && pieces[n-1].same(&p) {
			continue
		}
		pieces = append(pieces, p)
	}
	d.pieces = pieces
}

// same tells whether a piece goes on in another.
func (p *piece) same(next *piece) bool {
	return p.epoch == next.epoch && p.primary == next.primary && slices.Equal(p.backups, next.backups)
}

// strangers tells whether an address is missing of a node that the directory names.
func (d *directory) strangers() bool {
	strange := func(id string) bool {
		_, known := d.addrs[id]
		return id != "" && !known
	}
	if d.table == nil {
		return slices.ContainsFunc(d.pieces, func(p piece) bool { return strange(p.primary) })
	}
	for hash := range d.table.Mask() + 1 {
		if strange(d.entry(hash).Primary) {
			return true
		}
	}
	return false
}

// blank tells that nobody has anything.
func (d *directory) blank() bool {
	if d.table == nil {
		return !slices.ContainsFunc(d.pieces, func(p piece) bool { return p.primary != "" })
	}
	for hash := range d.table.Mask() + 1 {
		if d.entry(hash).Primary != "" {
			return false
		}
	}
	return true
}

// entry is that of a hash under the widest mask.
func (d *directory) entry(hash uint32) *buckets.Entry {
	return d.table.Lookup(ring.Token(bits.Reverse32(hash)))
}

// sorted are the addresses of all nodes, in an order of their own.
func (d *directory) sorted() []string { return slices.Sorted(maps.Values(d.addrs)) }

// owners resolves ids. Each remote that it has asked for is in use.
func (d *directory) owners(at func(addr string) *remote) *owners {
	w := &owners{token: d.token}
	known := make(map[string]*remote, len(d.addrs))
	for id, addr := range d.addrs {
		known[id] = at(addr)
	}
	resolve := func(primary string, backups []string) *owner {
		o := &owner{primary: known[primary]}
		for _, id := range backups {
			if r := known[id]; r != nil {
				o.backups = append(o.backups, r)
			}
		}
		return o
	}
	if d.table == nil {
		for _, p := range d.pieces {
			w.starts = append(w.starts, p.start)
			w.by = append(w.by, resolve(p.primary, p.backups))
		}
		return w
	}
	w.mask = d.table.Mask()
	w.by = make([]*owner, w.mask+1)
	shared := make(map[buckets.Hashmask]*owner)
	for hash := range w.by {
		e := d.entry(uint32(hash))
		if e.Mask == w.mask {
			w.by[hash] = resolve(e.Primary, e.Backups)
			continue
		}
		// What is left of a wide bucket after some of its children were heard of is
		// not one piece of the circle, but has one owner.
		o := shared[e.Hashmask]
		if o == nil {
			o = resolve(e.Primary, e.Backups)
			shared[e.Hashmask] = o
		}
		w.by[hash] = o
	}
	return w
}
