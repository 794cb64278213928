package status

import "strconv"

// Default ids are a host's name and a UUID, too long for a table, and on one host they
// begin alike.

// tellingApart is how many characters of an id are shown beyond those that it has in
// common with another one.
const tellingApart = 4

// labels are short names of nodes, of at most so many cells: the ids where all fit,
// otherwise beginnings of ids that are no other's, and numbers where these do not fit.
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
	if need+1 <= cells {
		for id := range shown {
			shown[id] = clip(shown[id], cells)
		}
		return shown
	}
	for i, id := range ids {
		number := "#" + strconv.Itoa(i+1)
		shown[id] = clip(printable(id), max(cells-len(number), 1)) + number
	}
	return shown
}

// common is how many cells two ids have alike at their beginning.
func common(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return width(string(x[:n]))
}
