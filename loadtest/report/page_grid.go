package report

import (
	"fmt"
	"strings"
)

// Bounds of what is drawn of grids: more nodes than that cannot be told apart, and
// the page must stay one that a phone can load.
const (
	mostGridNodes = 64
	mostGridBytes = 3 << 20
)

// bucketGrids are the grids of all steps that have one.
type bucketGrids struct {
	Frames []bucketFrame `json:"frames"`
}

// A bucketFrame is a step of a contender. Rows are sixteen buckets long, or 64 where there are many.
type bucketFrame struct {
	Name  string       `json:"name"`
	Row   int          `json:"row"`
	Rows  []string     `json:"rows"` // labels
	Nodes []bucketNode `json:"nodes"`
}

// A bucketNode has a character for each bucket: P or S, N or n if it came, U and D if it was
// promoted or demoted, x if it is gone, and a dot for none.
type bucketNode struct {
	Name    string   `json:"name"`
	Cells   string   `json:"cells"`
	Count   string   `json:"count"`
	Changes []string `json:"changes,omitempty"`
}

// roleOf is what a node has of a cell: P, S, or 0 for none.
type roleOf func(node string, cell int) byte

// addNode adds the cells of a node: what it has of each, and what has become of that since before, if that is
// known.
func (f *bucketFrame) addNode(node string, cells int, now, before roleOf) {
	text := make([]byte, cells)
	for i := range text {
		role := now(node, i)
		was := role
		if before != nil {
			was = before(node, i)
		}
		text[i] = cellCode(role, was)
	}
	count := func(codes string) (n int) {
		for _, c := range text {
			if strings.IndexByte(codes, c) >= 0 {
				n++
			}
		}
		return n
	}
	primaries, backups := count("PNU"), count("SnD")
	n := bucketNode{Name: Clip(Printable(node), 30), Cells: string(text), Count: fmt.Sprintf("%d+%d=%d", primaries, backups, primaries+backups)}
	for _, change := range []struct{ codes, text string }{{"Nn", "+%d come"}, {"U", "%d to P"}, {"D", "%d to S"}, {"x", "−%d gone"}} {
		if k := count(change.codes); k > 0 {
			n.Changes = append(n.Changes, fmt.Sprintf(change.text, k))
		}
	}
	f.Nodes = append(f.Nodes, n)
}

// cellCode is a cell as the script of a page knows it.
func cellCode(role, before byte) byte {
	switch {
	case role == 0 && before == 0:
		return '.'
	case role == before:
		return role
	case role == 0:
		return 'x'
	case before == 0 && role == 'P':
		return 'N'
	case before == 0:
		return 'n'
	case role == 'P':
		return 'U'
	}
	return 'D'
}
