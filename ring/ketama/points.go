package ketama

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/ring"
)

// A server and its groups of four points.
type server struct {
	id     string
	groups int
}

// servers gives members their groups. They come ordered by id, with what is wrong
// with them. The servers' order is that of twemproxy, by length and then bytes, in
// which the earlier owns a point that two share.
func (s *Strategy) servers(members []ring.Member, err error) ([]server, error) {
	if err := errors.Join(err, checkPins(members)); err != nil {
		return nil, err
	}
	total := 0.0
	for _, m := range members {
		total += m.Weight
	}
	sum := 0
	servers := make([]server, len(members))
	for i, m := range members {
		servers[i] = server{m.ID, s.rule.groups(m.Weight, total, s.points, len(members))}
		sum += servers[i].groups
	}
	if sum == 0 {
		// Rounding has left nobody a point (4 a server, 61 equal servers). The
		// originals serve nothing then; there is no answer to agree with.
		for i := range servers {
			servers[i].groups = 1
		}
	}
	slices.SortFunc(servers, func(a, b server) int {
		return cmp.Or(cmp.Compare(len(a.id), len(b.id)), cmp.Compare(a.id, b.id))
	})
	return servers, ring.CheckPoints(4 * sum)
}

func checkPins(members []ring.Member) error {
	var faults []error
	for _, m := range members {
		if len(m.Pins) > 0 || m.OnlyPins {
			faults = append(faults, fmt.Errorf("%w: %.300q: the points of ketama follow from the id", ring.ErrPins, m.ID))
		}
	}
	return errors.Join(faults...)
}

// points goes over the four points of each group.
func (s *server) points() iter.Seq[ring.Token] {
	return func(yield func(ring.Token) bool) {
		name := append([]byte(s.id), '-')
		for k := range s.groups {
			sum := md5.Sum(strconv.AppendInt(name, int64(k), 10))
			for i := 0; i < len(sum); i += 4 {
				if !yield(ring.Token(binary.LittleEndian.Uint32(sum[i:]))) {
					return
				}
			}
		}
	}
}
