package ring

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The text form is one line a range, in the order of the tokens, after a first line
// that names the format:
//
//	ringside placement 1
//	00000000-80000000 epoch=3 primary=a backups=b,c learners=d
//	80000000-00000000 epoch=1
//
// What a range does not have is left out. A placement with seats has a line more, with the nodes by
// number, and the numbers that are free:
//
//	seats a,b,,c free=2
const (
	textHeader = "ringside placement 1"
	textSeats  = "seats "
)

// MarshalText implements [encoding.TextMarshaler].
func (p *Placement) MarshalText() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(textHeader + "\n")
	if p.seats != nil {
		b.WriteString(textSeats + strings.Join(p.seats.Nodes, ","))
		for i, number := range p.seats.Free {
			if i == 0 {
				b.WriteString(" free=")
			} else {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(number))
		}
		b.WriteByte('\n')
	}
	for row := range p.Rows() {
		b.WriteString(row.Range.String())
		b.WriteString(" epoch=")
		b.WriteString(strconv.FormatUint(row.Epoch, 10))
		if row.Primary != "" {
			b.WriteString(" primary=" + row.Primary)
		}
		if len(row.Backups) > 0 {
			b.WriteString(" backups=" + strings.Join(row.Backups, ","))
		}
		if len(row.Learners) > 0 {
			b.WriteString(" learners=" + strings.Join(row.Learners, ","))
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. Empty lines and lines that
// begin with # are passed over.
func (p *Placement) UnmarshalText(text []byte) error {
	var rows []Row
	var seats *Seats
	intern := make(interned)
	header := false
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if !header {
			if line != textHeader {
				return fmt.Errorf("line %d: %w: %.40q in the place of %q", number, ErrMalformed, line, textHeader)
			}
			header = true
			continue
		}
		if strings.HasPrefix(line, textSeats) && seats == nil {
			var err error
			if seats, err = parseSeats(line, intern); err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
			continue
		}
		row, err := parseRow(line, intern)
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		rows = append(rows, row)
	}
	if !header {
		return fmt.Errorf("%w: no line %q", ErrMalformed, textHeader)
	}
	read, err := NewPlacement(rows)
	if err != nil {
		return err
	}
	read.seats = seats
	*p = *read
	return nil
}

func parseSeats(line string, intern interned) (*Seats, error) {
	nodes, free, hasFree := strings.Cut(strings.TrimPrefix(line, textSeats), " free=")
	s := &Seats{Nodes: intern.list(nodes)}
	if hasFree {
		for word := range strings.SplitSeq(free, ",") {
			number, err := strconv.Atoi(word)
			if err != nil {
				return nil, fmt.Errorf("%w: %.40q is not a number of a seat", ErrMalformed, word)
			}
			s.Free = append(s.Free, number)
		}
	}
	return s, s.Validate()
}

func parseRow(line string, intern interned) (Row, error) {
	fields := strings.Fields(line)
	var row Row
	var err error
	if row.Range, err = ParseRange(fields[0]); err != nil {
		return Row{}, err
	}
	seen := make(map[string]bool, 4)
	for _, field := range fields[1:] {
		name, value, _ := strings.Cut(field, "=")
		if value == "" || seen[name] {
			return Row{}, fmt.Errorf("%w: %.40q", ErrMalformed, field)
		}
		seen[name] = true
		switch name {
		case "epoch":
			if row.Epoch, err = strconv.ParseUint(value, 10, 64); err != nil {
				return Row{}, fmt.Errorf("%w: %.40q is not an epoch", ErrMalformed, value)
			}
		case "primary":
			row.Primary = intern.of(value)
		case "backups":
			row.Backups = intern.list(value)
		case "learners":
			row.Learners = intern.list(value)
		default:
			return Row{}, fmt.Errorf("%w: %.40q", ErrMalformed, field)
		}
	}
	if !seen["epoch"] {
		return Row{}, fmt.Errorf("%w: %v has no epoch", ErrMalformed, row.Range)
	}
	return row, nil
}

// interned keeps one string for all mentions of a node.
type interned map[string]string

func (m interned) of(s string) string {
	if known, ok := m[s]; ok {
		return known
	}
	s = strings.Clone(s)
	m[s] = s
	return s
}

func (m interned) list(value string) []string {
	nodes := strings.Split(value, ",")
	for i := range nodes {
		nodes[i] = m.of(nodes[i])
	}
	return nodes
}

// The binary form begins with its version. Numbers are unsigned varints: the count
// of nodes, each with its length and bytes; the count of rows, each with its start
// as the distance from the one before, its epoch, its primary (0 for none, else 1 +
// its place among the nodes), and the counted lists of its backups and learners. Version 2 goes on
// with the seats: the counted list of their nodes, each with its length and bytes, and of the free
// numbers. A placement without seats has version 1.
const (
	binaryVersion      = 1
	binaryVersionSeats = 2
)

// MarshalBinary implements [encoding.BinaryMarshaler].
func (p *Placement) MarshalBinary() ([]byte, error) {
	b := []byte{binaryVersion}
	if p.seats != nil {
		b[0] = binaryVersionSeats
	}
	place := make(map[string]uint64, len(p.nodes))
	b = binary.AppendUvarint(b, uint64(len(p.nodes)))
	for i, node := range p.nodes {
		place[node] = uint64(i)
		b = binary.AppendUvarint(b, uint64(len(node)))
		b = append(b, node...)
	}
	list := func(nodes []string) {
		b = binary.AppendUvarint(b, uint64(len(nodes)))
		for _, node := range nodes {
			b = binary.AppendUvarint(b, place[node])
		}
	}
	b = binary.AppendUvarint(b, uint64(len(p.rows)))
	before := Token(0)
	for row := range p.Rows() {
		b = binary.AppendUvarint(b, uint64(row.Range.Start-before))
		before = row.Range.Start
		b = binary.AppendUvarint(b, row.Epoch)
		primary := uint64(0)
		if row.Primary != "" {
			primary = place[row.Primary] + 1
		}
		b = binary.AppendUvarint(b, primary)
		list(row.Backups)
		list(row.Learners)
	}
	if p.seats == nil {
		return b, nil
	}
	b = binary.AppendUvarint(b, uint64(len(p.seats.Nodes)))
	for _, node := range p.seats.Nodes {
		b = binary.AppendUvarint(b, uint64(len(node)))
		b = append(b, node...)
	}
	b = binary.AppendUvarint(b, uint64(len(p.seats.Free)))
	for _, number := range p.seats.Free {
		b = binary.AppendUvarint(b, uint64(number))
	}
	return b, nil
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. It takes memory in
// proportion to the bytes that it is given, whatever they say.
func (p *Placement) UnmarshalBinary(data []byte) error {
	if len(data) == 0 || data[0] != binaryVersion && data[0] != binaryVersionSeats {
		return fmt.Errorf("%w: not a placement of version %d or %d", ErrMalformed, binaryVersion, binaryVersionSeats)
	}
	d := decoder{rest: data[1:]}
	nodes := make([]string, d.count(2))
	for i := range nodes {
		nodes[i] = d.text()
	}
	rows := make([]Row, d.count(5))
	before := uint64(0)
	for i := range rows {
		before += d.number()
		if before >= 1<<32 {
			d.fail("a start beyond the circle")
		}
		row := &rows[i]
		row.Range.Start = Token(before)
		row.Epoch = d.number()
		if primary := d.number(); primary > 0 {
			row.Primary = d.node(nodes, primary-1)
		}
		row.Backups = d.nodes(nodes)
		row.Learners = d.nodes(nodes)
		if d.err != nil {
			return d.err
		}
	}
	var seats *Seats
	if data[0] == binaryVersionSeats {
		seats = d.seats()
	}
	if len(d.rest) > 0 {
		d.fail("bytes after the end")
	}
	if d.err != nil {
		return d.err
	}
	if seats != nil {
		if err := seats.Validate(); err != nil {
			return err
		}
	}
	for i := range rows {
		rows[i].Range.End = rows[(i+1)%len(rows)].Range.Start
	}
	read, err := NewPlacement(rows)
	if err != nil {
		return err
	}
	if !slices.Equal(read.nodes, nodes) {
		return fmt.Errorf("%w: the nodes are not those of the rows in order", ErrMalformed)
	}
	read.seats = seats
	*p = *read
	return nil
}

// decoder reads the binary form. After a fault it goes on with zeroes; err says what
// came first.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrMalformed, what)
	}
	d.rest = nil
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail("cut off, or a number too large")
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count reads how many things follow that take at least size bytes each.
func (d *decoder) count(size int) int {
	n := d.number()
	if n > uint64(len(d.rest)/size) {
		d.fail("a count beyond the bytes that follow")
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.count(1)
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) seats() *Seats {
	s := &Seats{Nodes: make([]string, d.count(1))}
	for i := range s.Nodes {
		s.Nodes[i] = d.text()
	}
	for range d.count(1) {
		s.Free = append(s.Free, int(d.number()))
	}
	return s
}

func (d *decoder) node(nodes []string, i uint64) string {
	if i >= uint64(len(nodes)) {
		d.fail("a node that is not listed")
		return ""
	}
	return nodes[i]
}

func (d *decoder) nodes(nodes []string) []string {
	n := d.count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.node(nodes, d.number())
	}
	return list
}
