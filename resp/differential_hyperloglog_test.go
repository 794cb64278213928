package resp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// maskEstimate hides the estimate in a sketch, which only Redis notes there.
func maskEstimate(v resptest.Value) resptest.Value {
	if strings.HasPrefix(v.Text, "HYLL") && len(v.Text) >= 16 {
		v.Text = v.Text[:8] + "(estimate)" + v.Text[16:]
	}
	return v
}

// sketch compares the bytes of a sketch.
func (d *differ) sketch(key string) string {
	d.t.Helper()
	want, got := d.both([]string{"GET", key})
	if maskEstimate(got).String() != maskEstimate(want).String() {
		d.differs([]string{"GET", key}, got, want)
	}
	return want.Text
}

func TestHyperLogLogCommandsAnswerAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	differential(t, func(d *differ) {
		d.run(`
SET text x
SET number 12345
RPUSH list a
PFADD
PFADD new
PFADD new
GET new
PFADD new a b c
PFADD new a b c
PFADD new ""
PFCOUNT new
PFADD text a
PFADD number a
PFADD list a
PFCOUNT
PFCOUNT nope
PFCOUNT text
PFCOUNT list
PFCOUNT new nope
PFCOUNT new text
PFCOUNT text new
PFCOUNT nope nope2
PFADD other c d e
PFCOUNT new other
PFCOUNT other other
PFMERGE
PFMERGE both new other nope
PFCOUNT both
PFDEBUG decode both
PFMERGE alone
GET alone
PFMERGE new text
PFMERGE text new
PFMERGE list new
PFMERGE new list
PFMERGE both
OBJECT ENCODING both
STRLEN both
EXPIRE both 1000
PFADD both x y
TTL both
PFMERGE both new
TTL both
PFDEBUG
PFDEBUG ENCODING
PFDEBUG ENCODING both x
PFDEBUG encoding nope
PFDEBUG encoding text
PFDEBUG encoding list
PFDEBUG bogus both
PFDEBUG encoding both
PFDEBUG decode both
PFDEBUG todense both
PFDEBUG todense both
PFDEBUG encoding both
PFDEBUG decode both
PFCOUNT both
PFDEBUG getreg new
PFDEBUG encoding new
PFSELFTEST
PFSELFTEST x
COPY new copied
PFADD copied z
APPEND copied x
PFCOUNT copied
PFADD copied z
PFMERGE copied other
CONFIG SET hll-sparse-max-bytes x
CONFIG SET hll-sparse-max-bytes -1
CONFIG GET hll-sparse-max-bytes
# Bytes that only look like a sketch.
SET bad "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"
PFCOUNT bad
PFCOUNT bad nope
PFADD bad a
PFMERGE bad other
PFDEBUG getreg bad
PFDEBUG todense bad
PFDEBUG decode bad
SET bad "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xff\x00"
PFCOUNT bad
PFCOUNT bad nope
PFMERGE bad other
SET bad "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xfe"
PFCOUNT bad
PFADD nope3 a
PFMERGE nope3 bad
SET bad "HYLL\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xff"
PFCOUNT bad
SET bad "HYLL\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xff"
PFCOUNT bad
SET bad "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
PFCOUNT bad
SET bad "hyll\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xff"
PFADD bad a
# One whose estimate is noted.
SET noted "HYLL\x01\x00\x00\x00\x67\x12\x00\x00\x00\x00\x00\x00\x7f\xff"
PFCOUNT noted
PFCOUNT noted nope
PFADD noted a
PFCOUNT noted
`)
	})
}

// A sketchMaker makes up commands on sketches.
type sketchMaker struct {
	commandMaker
	most int // elements that are added at a time
}

func (g sketchMaker) key() string { return fmt.Sprint("h", g.rnd.IntN(4)) }

func (g sketchMaker) command() []string {
	cmd := []string{"PFADD", g.key()}
	switch g.rnd.IntN(12) {
	case 0:
		return []string{"PFMERGE", g.key(), g.key(), g.key()}
	case 1, 2:
		return []string{"PFCOUNT", g.key()}
	case 3:
		return []string{"PFCOUNT", g.key(), g.key(), g.key()}
	case 4:
		if g.rnd.IntN(8) == 0 {
			return []string{"DEL", g.key()}
		}
	default:
		for range g.rnd.IntN(g.most + 1) {
			cmd = append(cmd, fmt.Sprint(g.rnd.IntN(100*g.most)))
		}
		if g.rnd.IntN(10) == 0 {
			cmd = append(cmd, noise(g.rnd.IntN(100)))
		}
	}
	return cmd
}

// Sketches of all sizes have the bytes and the estimates that they have in Redis, and travel
// both ways.
func TestRandomSketchesAreThoseOfRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	seed := randomtest.Seed(t)
	pipelines := randomtest.Length(150, 10)
	for _, most := range []int{3, 40, 2000} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			differential(t, func(d *differ) {
				rnd := rand.New(rand.NewPCG(seed, uint64(most)))
				g := sketchMaker{commandMaker{rnd}, most}
				d.do("CONFIG", "SET", "hll-sparse-max-bytes", "3000")
				for range pipelines {
					var cmds [][]string
					for range 1 + rnd.IntN(8) {
						cmd := g.command()
						if rnd.IntN(100) == 0 {
							cmd = []string{"CONFIG", "SET", "hll-sparse-max-bytes", fmt.Sprint(rnd.IntN(4000))}
						}
						cmds = append(cmds, cmd)
					}
					d.pipeline(cmds)
					d.sketch(g.key())
				}
				for i := range 4 {
					key := fmt.Sprint("h", i)
					d.sketch(key)
					if d.do("EXISTS", key).Text == "0" {
						continue
					}
					for _, payload := range []string{d.redis.Do("DUMP", key).Text, d.ours.Do("DUMP", key).Text} {
						d.do("RESTORE", "copy", "0", payload, "REPLACE")
						d.do("PFADD", "copy", "something", "else")
						d.do("PFCOUNT", "copy")
						d.sketch("copy")
					}
				}
			})
		})
	}
}
