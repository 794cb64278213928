package lua

import "strings"

// Patterns are interpreted as the C library does, step by step, since a fault in a pattern is
// an error only where matching comes to it. Patterns end at their first zero byte.

const (
	maxCaptures = 32
	// maxPatternDepth bounds the calls of match within each other, of which each takes an item of
	// the pattern: the stack of C is full somewhere there.
	maxPatternDepth = 200_000
	patternFrame    = 512 // bytes of the Go stack that one of them may take
	depthSlice      = 1000
	matcherBytes    = 1 << 10
	patternSlice    = 4096
)

// Lengths of captures that have none.
const (
	captureOpen     = -1
	capturePosition = -2
)

type matchedPart struct{ at, len int }

// A matcher matches one pattern with one text.
type matcher struct {
	t        *Thread
	src, pat string
	begin    int // of the pattern behind its anchor
	anchored bool
	first    int // the byte that all matches begin with, or -1

	level    int // captures begun
	captures [maxCaptures]matchedPart

	depth, held, left int // calls within each other, those whose memory is held, units before the next step

	sets   [4]charSet // of the pattern, by setAt
	setAt  [4]int     // 1 + where a set begins in the pattern
	oldest uint8
}

// init prepares a matcher. With anchors, ^ at the front of the pattern is an anchor.
func (m *matcher) init(t *Thread, src, pat string, anchors bool) {
	pat = cutZero(pat)
	m.t, m.src, m.pat, m.left, m.held = t, src, pat, patternSlice, depthSlice
	if anchors && pat != "" && pat[0] == '^' {
		m.anchored, m.begin = true, 1
	}
	m.first = m.literal(m.begin)
}

// isMagic tells the bytes that do not stand for themselves in each pattern.
var isMagic = func() (all [256]bool) {
	for _, c := range []byte("^$*+?.([%-") {
		all[c] = true
	}
	return all
}()

// literal returns the byte that any text must begin with to match the pattern from p on, or -1
// if there is no such byte or matching may raise an error before it looks at the text.
func (m *matcher) literal(p int) int {
	if p >= len(m.pat) || isMagic[m.pat[p]] || m.pat[p] == ')' {
		return -1
	}
	switch m.at(p + 1) {
	case '*', '?', '-':
		return -1
	}
	return int(m.pat[p])
}

// work notes n units of work.
func (m *matcher) work(n int) {
	if m.left -= n; m.left < 0 {
		m.t.Step(patternSlice - m.left)
		m.left = patternSlice
	}
}

// at returns a byte of the pattern, which ends with a zero byte.
func (m *matcher) at(p int) byte {
	if p < len(m.pat) {
		return m.pat[p]
	}
	return 0
}

// search returns the first match at from or behind it; start is -1 if there is none.
func (m *matcher) search(from int) (start, end int) {
	m.depth = 0
	for s := from; s <= len(m.src); s++ {
		if m.first >= 0 && !m.anchored {
			next := strings.IndexByte(m.src[s:], byte(m.first))
			if next < 0 {
				m.work((len(m.src) - s) / 16)
				break
			}
			s += next
			m.work(next / 16)
		}
		m.level = 0
		if end := m.match(s, m.begin); end >= 0 {
			return s, end
		}
		if m.anchored {
			break
		}
	}
	return -1, -1
}

// descend is match, one call deeper.
func (m *matcher) descend(s, p int) int {
	if m.depth++; m.depth > m.held {
		if m.held >= maxPatternDepth {
			m.t.Errorf("pattern too complex")
		}
		m.held += depthSlice
		m.t.Hold(depthSlice * patternFrame)
	}
	end := m.match(s, p)
	m.depth--
	return end
}

// match returns where the text that matches the pattern from p on ends, or -1.
func (m *matcher) match(s, p int) int {
	for p < len(m.pat) {
		m.work(1)
		switch m.pat[p] {
		case '(':
			if m.at(p+1) == ')' {
				return m.open(s, p+2, capturePosition)
			}
			return m.open(s, p+1, captureOpen)
		case ')':
			return m.close(s, p+1)
		case '$':
			if p+1 == len(m.pat) {
				if s == len(m.src) {
					return s
				}
				return -1
			}
		case '%':
			switch next := m.at(p + 1); {
			case next == 'b':
				if s = m.balance(s, p+2); s < 0 {
					return -1
				}
				p += 4
				continue
			case next == 'f':
				if p += 2; m.at(p) != '[' {
					m.t.Errorf("missing '[' after '%%f' in pattern")
				}
				end := m.itemEnd(p)
				if !m.frontier(s, m.set(p, end)) {
					return -1
				}
				p = end
				continue
			case next >= '0' && next <= '9':
				if s = m.again(s, next); s < 0 {
					return -1
				}
				p += 2
				continue
			}
		}
		end := m.itemEnd(p)
		switch m.at(end) {
		case '?':
			if s < len(m.src) && m.single(m.src[s], p, end) {
				if e := m.descend(s+1, end+1); e >= 0 {
					return e
				}
			}
			p = end + 1
		case '*':
			return m.longest(s, p, end)
		case '+':
			if s == len(m.src) || !m.single(m.src[s], p, end) {
				return -1
			}
			return m.longest(s+1, p, end)
		case '-':
			return m.shortest(s, p, end)
		default:
			if s == len(m.src) || !m.single(m.src[s], p, end) {
				return -1
			}
			s++
			p = end
		}
	}
	return s
}

// itemEnd returns where the item of the pattern that begins at p ends, without its quantifier.
func (m *matcher) itemEnd(p int) int {
	c := m.pat[p]
	p++
	switch c {
	case '%':
		if p >= len(m.pat) {
			m.t.Errorf("malformed pattern (ends with '%%')")
		}
		return p + 1
	case '[':
		if m.at(p) == '^' {
			p++
		}
		for first := true; first || m.at(p) != ']'; first = false {
			if p >= len(m.pat) {
				m.t.Errorf("malformed pattern (missing ']')")
			}
			if p++; m.pat[p-1] == '%' && p < len(m.pat) {
				p++
			}
		}
		return p + 1
	}
	return p
}

// single reports whether a byte matches the item of the pattern between p and end.
func (m *matcher) single(c byte, p, end int) bool {
	switch m.pat[p] {
	case '.':
		return true
	case '%':
		return isClass(c, m.pat[p+1])
	case '[':
		return m.set(p, end).has(c)
	}
	return m.pat[p] == c
}

// run returns where the longest text from s on ends whose bytes all match an item.
func (m *matcher) run(s, p, end int) int {
	for {
		to := min(len(m.src), s+copySlice)
		if s = m.runTo(m.src[:to], s, p, end); s < to || s == len(m.src) {
			return s
		}
	}
}

func (m *matcher) runTo(src string, s, p, end int) int {
	from := s
	switch c := m.pat[p]; c {
	case '.':
		s = len(src)
	case '%':
		mask, wanted := classOf(m.pat[p+1])
		if mask == 0 {
			c = m.pat[p+1]
			for s < len(src) && src[s] == c {
				s++
			}
			break
		}
		for s < len(src) && (classes[src[s]]&mask != 0) == wanted {
			s++
		}
	case '[':
		set := m.set(p, end)
		for s < len(src) && set.has(src[s]) {
			s++
		}
	default:
		for s < len(src) && src[s] == c {
			s++
		}
	}
	m.work((s - from) / 8)
	return s
}

// longest matches an item as often as it can, and what follows it in the pattern.
func (m *matcher) longest(s, p, end int) int {
	to := m.run(s, p, end)
	if end++; end == len(m.pat) {
		return to
	}
	for next := m.literal(end); to >= s; to-- {
		m.work(1)
		if next < 0 || to < len(m.src) && m.src[to] == byte(next) {
			if e := m.descend(to, end); e >= 0 {
				return e
			}
		}
	}
	return -1
}

// shortest matches an item as rarely as it can, and what follows it in the pattern.
func (m *matcher) shortest(s, p, end int) int {
	for next := m.literal(end + 1); ; s++ {
		m.work(1)
		if next < 0 || s < len(m.src) && m.src[s] == byte(next) {
			if e := m.descend(s, end+1); e >= 0 {
				return e
			}
		}
		if s == len(m.src) || !m.single(m.src[s], p, end) {
			return -1
		}
	}
}

func (m *matcher) open(s, p, length int) int {
	if m.level == maxCaptures {
		m.t.Errorf("too many captures")
	}
	m.captures[m.level] = matchedPart{s, length}
	m.level++
	end := m.descend(s, p)
	if end < 0 {
		m.level--
	}
	return end
}

func (m *matcher) close(s, p int) int {
	i := m.level - 1
	for i >= 0 && m.captures[i].len != captureOpen {
		i--
	}
	if i < 0 {
		m.t.Errorf("invalid pattern capture")
	}
	m.captures[i].len = s - m.captures[i].at
	end := m.descend(s, p)
	if end < 0 {
		m.captures[i].len = captureOpen
	}
	return end
}

// again matches the text of a capture.
func (m *matcher) again(s int, digit byte) int {
	i := int(digit) - '1'
	if i < 0 || i >= m.level || m.captures[i].len == captureOpen {
		m.t.Errorf("invalid capture index")
	}
	c := m.captures[i]
	if c.len < 0 || !strings.HasPrefix(m.src[s:], m.src[c.at:c.at+c.len]) {
		return -1
	}
	m.work(c.len / 16)
	return s + c.len
}

// balance matches from a byte to the one that closes it.
func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pat) {
		m.t.Errorf("unbalanced pattern")
	}
	opening, closing := m.pat[p], m.pat[p+1]
	if s == len(m.src) || m.src[s] != opening {
		return -1
	}
	for i, open := s+1, 1; i < len(m.src); i++ {
		switch m.src[i] {
		case closing:
			if open--; open == 0 {
				return i + 1
			}
		case opening:
			open++
		}
		if i&7 == 7 {
			m.work(2)
		}
	}
	return -1
}

// frontier reports whether a set begins at s.
func (m *matcher) frontier(s int, set *charSet) bool {
	var before, here byte
	if s > 0 {
		before = m.src[s-1]
	}
	if s < len(m.src) {
		here = m.src[s]
	}
	return !set.has(before) && set.has(here)
}
