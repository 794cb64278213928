package buckets

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ringside-kv/ringside/ring"
)

// TestScenarios runs the scripts of testdata; go test -rewrite accepts what they
// print. Commands:
//
//	new [mask=000F] [split-under=6] [slots]     a cluster without nodes
//	backups N                                   copies beside the primary, 1 if not said
//	join NODE[:WEIGHT] …                        at once
//	leave NODE …                                their copies stay readable meanwhile
//	crash NODE …                                their copies are gone
//	weight NODE:WEIGHT …
//	load HASHMASK=BYTES[/LARGEST] …             others have 64 MiB each; no argument: unknown
//	grid                                        who has what, as the seeds draw it
//
// The changes print how many buckets there are, what each node has as primary +
// backup = total, and how many copies travelled and changed their role.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var s scenario
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := s.run(d)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

type scenario struct {
	strategy *Strategy
	members  []ring.Member
	backups  int
	p        *ring.Placement
	load     func(ring.Range) ring.Load
}

func (s *scenario) run(d *datadriven.TestData) (string, error) {
	var names []string
	for _, arg := range d.CmdArgs {
		name := arg.Key
		if len(arg.Vals) > 0 {
			name += "=" + strings.Join(arg.Vals, ",")
		}
		names = append(names, name)
	}
	present := s.p
	switch d.Cmd {
	case "new":
		return s.begin(names)
	case "grid":
		return s.grid(), nil
	case "backups":
		n, err := strconv.Atoi(names[0])
		if err != nil {
			return "", err
		}
		s.backups = n
		if len(s.members) == 0 {
			return "", nil
		}
	case "join", "weight":
		for _, name := range names {
			m, err := ring.ParseMember(name)
			if err != nil {
				return "", err
			}
			if d.Cmd == "weight" {
				s.drop(m.ID)
			}
			s.members = append(s.members, m)
		}
	case "leave", "crash":
		for _, name := range names {
			s.drop(name)
		}
		if d.Cmd == "crash" {
			present = s.p.Without(names...)
		}
	case "load":
		if err := s.setLoad(names); err != nil {
			return "", err
		}
	default:
		return "", fmt.Errorf("no command %s", d.Cmd)
	}
	return s.rebalance(present)
}

func (s *scenario) begin(options []string) (string, error) {
	var cfg Config
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "mask":
			m, err := ParseMask(value)
			if err != nil {
				return "", err
			}
			cfg.Mask = m
		case "split-under":
			cfg.SplitUnder, _ = strconv.Atoi(value)
		case "slots":
			cfg.Slots = true
		}
	}
	strategy, err := New(cfg)
	*s = scenario{strategy: strategy, backups: 1}
	return "", err
}

func (s *scenario) drop(node string) {
	s.members = slices.DeleteFunc(s.members, func(m ring.Member) bool { return m.ID == node })
}

func (s *scenario) setLoad(args []string) error {
	if len(args) == 0 {
		s.load = nil
		return nil
	}
	type sized struct {
		mask           Hashmask
		bytes, largest int64
	}
	var all []sized
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		mask, err := ParseHashmask(name)
		if err != nil {
			return err
		}
		bytes, largest, _ := strings.Cut(value, "/")
		this := sized{mask: mask}
		this.bytes, _ = strconv.ParseInt(bytes, 10, 64)
		this.largest, _ = strconv.ParseInt(largest, 10, 64)
		all = append(all, this)
	}
	s.load = func(r ring.Range) ring.Load {
		for _, this := range all {
			if whole := this.mask.Range(); whole.Contains(r.Start) && whole.Len() >= r.Len() {
				return ring.Load{Bytes: int64(uint64(this.bytes) * r.Len() / whole.Len()), Largest: this.largest}
			}
		}
		return ring.Load{Bytes: 64 << 20}
	}
	return nil
}

func (s *scenario) rebalance(present *ring.Placement) (string, error) {
	p, err := s.strategy.Desired(ring.Input{Members: s.members, Backups: s.backups, Present: present, Load: s.load})
	if err != nil {
		return "", err
	}
	var travelled, promoted, lost int
	if present != nil {
		for row := range p.Rows() {
			was := present.Lookup(row.Range.Start)
			for node := range row.Copies() {
				if !was.Holds(node) {
					travelled++
				}
			}
			switch {
			case was.Primary == "":
				lost++
			case was.Primary != row.Primary && was.Holds(row.Primary):
				promoted++
			}
		}
	}
	s.p = p

	var b strings.Builder
	fmt.Fprintf(&b, "%d buckets", p.Len())
	for i, name := range s.nodes() {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		primaries, backups := s.count(name)
		fmt.Fprintf(&b, "%s%s %d+%d=%d", sep, name, primaries, backups, primaries+backups)
	}
	fmt.Fprintf(&b, "\n%d travelled, %d promoted", travelled, promoted)
	if lost > 0 {
		fmt.Fprintf(&b, ", %d lost", lost)
	}
	return b.String() + "\n", nil
}

func (s *scenario) nodes() []string {
	var names []string
	for _, m := range s.members {
		names = append(names, m.ID)
	}
	slices.Sort(names)
	return names
}

func (s *scenario) count(node string) (primaries, backups int) {
	for row := range s.p.Rows() {
		switch {
		case row.Primary == node:
			primaries++
		case row.Holds(node):
			backups++
		}
	}
	return primaries, backups
}

// grid lists the buckets by mask and id, with a column for each node.
func (s *scenario) grid() string {
	var masks []Hashmask
	for row := range s.p.Rows() {
		mask, _ := ofRange(row.Range)
		masks = append(masks, mask)
	}
	slices.SortFunc(masks, func(a, b Hashmask) int {
		if a.Mask != b.Mask {
			return int(a.Mask) - int(b.Mask)
		}
		return int(a.ID) - int(b.ID)
	})
	var b strings.Builder
	b.WriteString("          " + strings.Join(s.nodes(), " ") + "\n")
	for _, mask := range masks {
		row := s.p.Lookup(mask.Range().Start)
		b.WriteString(mask.String())
		for _, node := range s.nodes() {
			sign := "-"
			switch {
			case row.Primary == node:
				sign = "P"
			case row.Holds(node):
				sign = "S"
			}
			fmt.Fprintf(&b, " %*s", len(node), sign)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
