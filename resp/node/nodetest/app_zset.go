package nodetest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Some keys hold sorted sets. What such a key holds is written as members and scores, in their
// order, with commas between them.
const (
	// zsetMark ends the keys of sorted sets.
	zsetMark = "%"
	// members is how many different ones a sorted set may have.
	members = 120
	// scores is how many different ones its members may have, which are integers.
	scores = 50
)

func isZSet(key string) bool { return strings.HasSuffix(key, zsetMark) }

// A scored is a member of a sorted set.
type scored struct {
	member string
	score  int
}

func (s scored) String() string { return s.member + "," + strconv.Itoa(s.score) }

// zsetOf reads what a key holds.
func zsetOf(state string) (all []scored) {
	if words := strings.Split(state, ","); state != "" && len(words)%2 == 0 {
		for i := 0; i < len(words); i += 2 {
			score, _ := strconv.Atoi(words[i+1])
			all = append(all, scored{words[i], score})
		}
	}
	return all
}

// stateOfZSet undoes zsetOf, in whatever order the members are.
func stateOfZSet(all []scored) string {
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.member, b.member))
	})
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = s.String()
	}
	return strings.Join(words, ",")
}

// stepZSet sends a random command to a sorted set.
func (w *AppWorker) stepZSet(key string, read func(want string, args ...string) error, write func(next, want string, args ...string) error) error {
	all := zsetOf(w.states[key][0])
	n := len(all)
	member, score := fmt.Sprintf("a member with number %03d", w.rnd.IntN(members)), w.rnd.IntN(scores)
	at := slices.IndexFunc(all, func(s scored) bool { return s.member == member })
	with := func(score int) string {
		if at < 0 {
			return stateOfZSet(append(all, scored{member, score}))
		}
		all[at].score = score
		return stateOfZSet(all)
	}
	number := strconv.Itoa(score)
	switch w.rnd.IntN(14) {
	case 0, 1, 2, 3, 4, 5:
		want := "0"
		if at < 0 {
			want = "1"
		}
		return write(with(score), want, "ZADD", key, number, member)
	case 6:
		if at >= 0 {
			score += all[at].score
		}
		return write(with(score), strconv.Itoa(score), "ZINCRBY", key, number, member)
	case 7:
		if at >= 0 {
			return write(stateOfZSet(slices.Delete(all, at, at+1)), "1", "ZREM", key, member)
		}
	case 8:
		if n > 0 {
			return write(stateOfZSet(all[1:]), all[0].String(), "ZPOPMIN", key)
		}
	case 9:
		if n > 2 && w.rnd.IntN(10) == 0 {
			return write(stateOfZSet(all[n/2:]), strconv.Itoa(n/2), "ZREMRANGEBYRANK", key, "0", strconv.Itoa(n/2-1))
		}
	case 10:
		if at >= 0 {
			return read(strconv.Itoa(at), "ZRANK", key, member)
		}
	case 11:
		if at >= 0 {
			return read(strconv.Itoa(all[at].score), "ZSCORE", key, member)
		}
	case 12:
		count := 0
		for _, s := range all {
			if s.score >= score {
				count++
			}
		}
		return read(strconv.Itoa(count), "ZCOUNT", key, number, "+inf")
	}
	return read(stateOfZSet(all), "ZRANGE", key, "0", "-1", "WITHSCORES")
}
