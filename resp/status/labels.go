package status

import "strconv"

// Default ids are a host's name and a UUID, too long for a table, and on one host they
// begin alike.

// tellingApart is how many characters of an id are shown beyond those that it has in
// common with another one.
const tellingApart = 4

// labels are short names of nodes, of at most so many cells: the ids where all fit,
// otherwise beginnings of ids that are no other's, without what all ids begin with
// where that does not fit, and numbers where nothing else tells them apart.
func labels(ids []string, cells int) map[string]string {
	shown := make(map[string]string, len(ids))
	fits := true
	for _, id := range ids {
		shown[id] = printable(id)
		fits = fits && width(shown[id]) <= cells
	}
	if fits {
		return shown
	}
	need := 0
	for i, a := range ids {
		for _, b := range ids[i+1:] {
			need = max(need, common(a, b)+tellingApart)
		}
	}
	head := 0
	if need+1 > cells && len(ids) > 1 {
		head = len([]rune(ids[0]))
		for _, id := range ids[1:] {
			head = min(head, common(ids[0], id))
		}
	}
	if need-head+1+min(head, 1) <= cells {
		for _, id := range ids {
			text := printable(id)
			if head > 0 {
				text = "…" + string([]rune(text)[head:])
			}
			shown[id] = clip(text, cells)
		}
		if apart(shown) {
			return shown
		}
	}
	for i, id := range ids {
		number := "#" + strconv.Itoa(i+1)
		shown[id] = clip(printable(id), max(cells-len(number), 1)) + number
	}
	return shown
}

// common is how many characters two ids have alike at their beginning.
func common(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// apart tells whether no two nodes have one label: wide characters may have been cut
// earlier than was meant.
func apart(shown map[string]string) bool {
	seen := make(map[string]bool, len(shown))
	for _, label := range shown {
		seen[label] = true
	}
	return len(seen) == len(shown)
}
