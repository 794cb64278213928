package status

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/ring"
)

var update = flag.Bool("update", false, "accept what is drawn as what is wanted")

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *time.Time {
	t := noon.Add(-d)
	return &t
}

// sample is a cluster of so many nodes with one backup of everything.
func sample(t *testing.T, nodes int, mask uint32) *Report {
	t.Helper()
	r := &Report{
		Cluster: "ringside", Generation: "18a1f0c2d3e4b5a6", At: noon, Asked: "a", Leader: "a", TableIndex: 77,
		Strategy: Strategy{Name: "buckets", Hash: "native", Backups: 1, Mask: fmt.Sprintf("%04X", mask)},
	}
	s, err := buckets.New(buckets.Config{Mask: mask})
	if err != nil {
		t.Fatal(err)
	}
	var members []ring.Member
	for i := range nodes {
		members = append(members, ring.Member{ID: string(rune('a' + i)), Weight: 1})
	}
	p, err := s.Desired(ring.Input{Members: members, Backups: 1})
	if err != nil {
		t.Fatal(err)
	}
	r.place(p, members)
	return r
}

func (r *Report) place(p *ring.Placement, members []ring.Member) {
	r.Buckets, r.Ranges = BucketsOf(p), p.Len()
	for i, m := range members {
		n := Node{
			ID: m.ID, Role: "store", State: Member, Health: Alive, Weight: m.Weight, Version: "v0.4.0",
			Addr: fmt.Sprintf("127.0.0.1:%d", 7001+i), Voter: i < 3, Answered: true,
		}
		for row := range p.Rows() {
			switch {
			case row.Primary == m.ID:
				n.Primaries++
				n.Share += float64(row.Range.Len()) / (1 << 32)
			case row.Holds(m.ID):
				n.Backups++
			}
		}
		n.Keys, n.Bytes = int64(n.Primaries)*41234, int64(n.Primaries)*41234*1100
		r.Nodes = append(r.Nodes, n)
	}
}

func draw(t *testing.T, r *Report, cells int) string {
	t.Helper()
	var b bytes.Buffer
	if err := Draw(&b, r, cells); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(b.String(), "\n") {
		if n := width(line); n > max(cells, LeastWidth) {
			t.Errorf("line %d takes %d cells: %s", i+1, n, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("line %d ends with spaces: %q", i+1, line)
		}
	}
	return b.String()
}

func ringReport(t *testing.T) *Report {
	r := sample(t, 3, 0xf)
	r.Buckets, r.Ranges = nil, 480
	r.Strategy = Strategy{Name: "ketama", Hash: "native", Points: 160, KetamaRule: "libketama"}
	r.Nodes[0].Share, r.Nodes[1].Share, r.Nodes[2].Share = 0.31, 0.36, 0.33
	r.Nodes[1].Weight = 1.1
	r.Nodes = append(r.Nodes, Node{ID: "p", Role: "proxy", State: Member, Health: Alive, Answered: true, Addr: "127.0.0.1:7100"})
	return r
}

func busyReport(t *testing.T) *Report {
	r := sample(t, 3, 0xff)
	left := 19.4
	r.Nodes = append(r.Nodes, Node{ID: "d", Role: "store", State: Joining, Health: Alive, Weight: 1, Learners: 3, Answered: true, Addr: "127.0.0.1:7004", Version: "v0.4.0"})
	for i := range 3 {
		r.Buckets[i].Learners = []string{"d"}
	}
	r.Throttle = 64 << 20
	r.Handoffs = []Handoff{
		{
			ID: 4, From: "a", To: "d", Phase: "copying", Ranges: 21, Reported: true,
			KeysDone: 1_234_567, KeysTotal: 3_456_789, BytesDone: 1 << 30, BytesTotal: 3<<30 + 1<<29, Rate: 61 << 20, Left: &left, Started: ago(20 * time.Second),
		},
		{ID: 5, From: "b", To: "d", Phase: "planned", Ranges: 22, Reported: true, Waits: "d receives from a"},
		{ID: 6, From: "c", To: "d", Phase: "planned", Ranges: 21, Waits: "c does not answer"},
	}
	return r
}

func troubledReport(t *testing.T) *Report {
	r := sample(t, 3, 0xff)
	r.Leader, r.Paused, r.ReplicaOf = "", true, &ReplicaOf{Addr: "10.0.0.1:6379", Node: "a"}
	r.Nodes[1].Health, r.Nodes[1].Since, r.Nodes[1].Answered = Failed, ago(3*time.Minute+10*time.Second), false
	r.Nodes[2].Answered, r.Nodes[2].Fault = false, "no answer in time"
	r.Nodes[0].WritesRefused = "less than 256mb of disk space are free"
	r.Nodes = append(r.Nodes,
		Node{ID: "e", Role: "store", State: Member, Health: Unseen, Weight: 1, Primaries: 1},
		Node{ID: "f", Role: "store", State: Stray, Health: Alive, Weight: 1, Addr: "127.0.0.1:7009", Answered: true},
		Node{ID: "g", Role: "store", State: Leaving, Health: Alive, Weight: 1, Addr: "127.0.0.1:7010", Answered: true},
		Node{ID: "h", Role: "store", State: Member, Health: Left, Since: ago(50 * time.Hour), Weight: 1},
	)
	r.Short, r.Lost = 85, 1
	r.Nodes[0].Feeding = Feeding{Pending: 3, PendingFor: 12.4}
	r.Nodes = append(r.Nodes, Node{ID: "w", Role: "witness", State: Member, Health: Alive, Answered: true, Addr: "127.0.0.1:7011", Voter: true})
	r.Buckets[7].Primary = ""
	return r
}

// longNames are the ids that nodes have by default.
func longNames(t *testing.T) *Report {
	r := busyReport(t)
	names := map[string]string{}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		names[n.ID] = fmt.Sprintf("database-host-%08x-29b4-4d1c-9a55-0f5bd0e2c7%02x", (uint32(i)+3)*0x2f6e2b17, i)
		n.ID = names[n.ID]
	}
	for i := range r.Handoffs {
		r.Handoffs[i].From, r.Handoffs[i].To = names[r.Handoffs[i].From], names[r.Handoffs[i].To]
	}
	for i := range r.Buckets {
		b := &r.Buckets[i]
		b.Primary = names[b.Primary]
		for _, list := range [][]string{b.Backups, b.Learners} {
			for j := range list {
				list[j] = names[list[j]]
			}
		}
	}
	r.Asked, r.Leader = names[r.Asked], names[r.Leader]
	return r
}

// splitReport has one bucket split, and its children moved in part.
func splitReport(t *testing.T) *Report {
	r := sample(t, 2, 0xff)
	first := r.Buckets[0]
	r.Buckets = r.Buckets[1:]
	for i := range 16 {
		b := first
		b.Hashmask = buckets.Hashmask{Mask: 0xfff, ID: uint32(i) << 8}.String()
		if i < 5 {
			b.Primary, b.Backups = b.Backups[0], []string{b.Primary}
		}
		r.Buckets = append(r.Buckets, b)
	}
	return r
}

// databasesReport has databases with and without policies, and is not long.
func databasesReport(t *testing.T) *Report {
	r := ringReport(t)
	r.Databases = []Database{
		{Number: 0, Bytes: 7 << 30},
		{Number: 1, Bytes: 1 << 20, Quota: 10 << 30, Policy: "allkeys-lfu"},
		{Number: 15, Together: true, Primary: r.Asked, Bytes: 99, Policy: "noeviction"},
	}
	return r
}

// What a terminal shows; go test -update accepts what is drawn.
func TestDrawings(t *testing.T) {
	lone := &Report{
		Cluster: "ringside", Generation: "18a1f0c2d3e4b5a6", Leader: "a",
		At: noon, Asked: "a", Ranges: 1, Strategy: Strategy{Name: "vnode", Hash: "slot", VNodes: 4},
		Nodes: []Node{{ID: "a", Role: "store", State: Member, Health: Alive, Weight: 1, Primaries: 1, Share: 1, Answered: true, Keys: 5, Bytes: 70, Addr: "127.0.0.1:6379"}},
	}
	for name, r := range map[string]*Report{
		"alone": lone, "small": sample(t, 2, 0xf), "three": sample(t, 3, 0xff), "twelve": sample(t, 12, 0xff),
		"condensed": sample(t, 5, 0xfff), "split": splitReport(t), "ring": ringReport(t), "busy": busyReport(t),
		"troubled": troubledReport(t), "long_names": longNames(t), "databases": databasesReport(t),
	} {
		t.Run(name, func(t *testing.T) {
			got := draw(t, r, 80)
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("drawn:\n%s\nwanted:\n%s", got, want)
			}
			for _, cells := range []int{0, 100, 132, 300} {
				draw(t, r, cells)
			}
		})
	}
}

// Whatever a server sends, it is drawn within the width, and steers no terminal.
func TestAnyReportIsDrawn(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	words := []string{"", "a", "b\x1b[2J", strings.Repeat("x", 300), "日本語のノード", "n\nn", "\xff\xfe", "copying", "0001/00FF", "0000/FFFF", "zz", Alive, Failed, Left, Leaving, "proxy"}
	for range 300 {
		r := new(Report)
		scramble(rnd, reflect.ValueOf(r).Elem(), words)
		text := draw(t, r, 40+rnd.IntN(120))
		if strings.ContainsAny(text, "\x1b\r") || !utf8.ValidString(text) {
			t.Fatalf("%q", text)
		}
		if t.Failed() {
			t.Fatalf("%+v", r)
		}
	}
}

// scramble fills a value at random.
func scramble(rnd *rand.Rand, v reflect.Value, words []string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(words[rnd.IntN(len(words))])
	case reflect.Bool:
		v.SetBool(rnd.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(rnd.Uint64()) >> rnd.IntN(64))
	case reflect.Uint64:
		v.SetUint(rnd.Uint64() >> rnd.IntN(64))
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, -1, 1e300, 0.3, 17}[rnd.IntN(6)])
	case reflect.Pointer:
		if rnd.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			scramble(rnd, v.Elem(), words)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rnd.IntN(5), 5))
		for i := range v.Len() {
			scramble(rnd, v.Index(i), words)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(rnd.Int64N(1<<40), 0)))
			return
		}
		for i := range v.NumField() {
			scramble(rnd, v.Field(i), words)
		}
	}
}

// FuzzDraw reads what a server might answer.
func FuzzDraw(f *testing.F) {
	for _, text := range []string{`{}`, `{"cluster":"x","nodes":[{"id":"a","weight":1e308}]}`, `{"buckets":[{"hashmask":"0000/0001","primary":"a"}]}`} {
		f.Add([]byte(text), 80)
	}
	f.Fuzz(func(t *testing.T, data []byte, cells int) {
		var r Report
		if json.Unmarshal(data, &r) == nil {
			draw(t, &r, cells%1000)
		}
	})
}

func TestReportsSurviveJSON(t *testing.T) {
	for _, r := range []*Report{busyReport(t), troubledReport(t)} {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back Report
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if got, want := draw(t, &back, 80), draw(t, r, 80); got != want {
			t.Errorf("%s\n%s", got, want)
		}
	}
}

func TestNamesAreShortAndApart(t *testing.T) {
	for _, ids := range [][]string{
		{"host-550e8400-e29b", "host-550e9400-e29b", "other"}, {"database-host-550e8400-e29b", "database-host-55ff9400-e29b"},
		{"日本語のノード一", "日本語のノード二"}, {"same"}, {"a-name-that-goes-on-and-on"},
	} {
		for _, cells := range []int{255, 18, 16, 12, 8, 3} {
			seen := map[string]bool{}
			for id, label := range labels(ids, cells) {
				if seen[label] || cells > 3 && width(label) > cells {
					t.Errorf("%d cells: %s is %q", cells, id, label)
				}
				seen[label] = true
			}
		}
	}
}

func TestLeftFollowsFromTheRate(t *testing.T) {
	h := Handoff{BytesDone: 100, BytesTotal: 400, Rate: 10}
	h.SetLeft()
	if h.Left == nil || *h.Left != 30 {
		t.Errorf("%v", h.Left)
	}
	for _, h := range []Handoff{{BytesTotal: 400}, {Rate: 5}} {
		if h.SetLeft(); h.Left != nil {
			t.Errorf("%v", *h.Left)
		}
	}
}
