package resp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

func TestSortAnswersAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
SORT
SORT_RO
SET text x
HSET hash a 1
RPUSH l 3 1 2 10 -5 1.5 1e1 0x10 "" " 7"
SORT l
SORT_RO l
SORT l DESC
SORT l ALPHA
SORT l ALPHA DESC
SORT l ASC DESC ASC
SORT l LIMIT 0 2
SORT l LIMIT 2 3
SORT l LIMIT -5 2
SORT l LIMIT 3 -1
SORT l LIMIT 3 -7
SORT l LIMIT 3 0
SORT l LIMIT 100 5
SORT l LIMIT 2 9223372036854775807
SORT l LIMIT x 1
SORT l LIMIT 1 x
SORT l LIMIT 1
SORT l LIMIT
SORT l BY
SORT l GET
SORT l STORE
SORT l BOGUS
SORT_RO l STORE x
SORT nope
SORT nope LIMIT 0 1
SORT nope STORE x
SORT text
SORT hash
SORT text BOGUS
SORT text STORE x
RPUSH words banana apple cherry apple
SORT words
SORT words LIMIT 0 0
SORT words ALPHA
SORT words DESC ALPHA LIMIT 1 2
SORT words BY nosort
SORT words BY nosort DESC
SORT words BY nosort LIMIT 1 2
SORT words BY nosort DESC LIMIT 1 2
SORT words BY nosort DESC LIMIT 10 2
RPUSH empties "" "" ""
SORT empties BY nosort
SORT words GET w_nope STORE empties
SORT empties BY nosort DESC
SORT empties
SORT words BY # ALPHA
RPUSH bad 1 nan
SORT bad
RPUSH bad2 inf -inf 1 infinity
SORT bad2
RPUSH bad5 1 "2 "
SORT bad5
RPUSH bad6 1 1_0
SORT bad6
SORT bad6 STORE out
EXISTS out
RPUSH ids 1 2 3 4
MSET w_1 40 w_2 30 w_3 20 w_4 10
MSET name_1 one name_2 two name_4 ""
HSET obj_1 name uno weight 4 
HSET obj_2 name due weight 9
HSET obj_3 weight 1
SORT ids BY w_*
SORT ids BY w_* DESC
SORT ids BY w_* LIMIT 1 2
SORT ids BY nope_*
SORT ids BY name_*
SORT ids BY name_* ALPHA
SORT ids BY name_* ALPHA DESC
SORT ids BY obj_*->weight
SORT ids BY obj_*->weight GET # GET obj_*->name GET obj_*->nope GET w_* GET name_*
SORT ids BY obj_*->
SORT ids BY obj_* GET obj_*
SORT ids GET fixed
SORT ids GET #
SORT ids GET ##
SORT ids GET w_*->name
SORT ids GET *->*
SORT ids GET obj_*->name->x
SORT_RO ids BY w_* GET # GET name_*
SORT ids BY w_* GET # GET name_* STORE out
LRANGE out 0 -1
TYPE out
SORT ids STORE out
LRANGE out 0 -1
SORT ids BY w_* LIMIT 1 2 STORE ids2
LRANGE ids2 0 -1
SORT ids DESC STORE ids
LRANGE ids 0 -1
SORT ids LIMIT 10 1 STORE out
EXISTS out
SET out x EX 1000
SORT ids STORE out
TTL out
SORT nope STORE out
EXISTS out
SORT ids BY nosort BY w_*
SORT ids BY w_* BY nosort
SADD s 5 3 9 1
SORT s
SORT s DESC LIMIT 1 2
SORT s BY nosort STORE out
LRANGE out 0 -1
SORT s BY nosort DESC STORE out
LRANGE out 0 -1
SORT s BY nosort DESC LIMIT 1 2 GET # GET w_* STORE out
LRANGE out 0 -1
SADD s word
SORT s
SORT s ALPHA
SORT s BY nosort LIMIT 0 0
ZADD z 3 a 1 b 2 c 2 d 10 5
SORT z
SORT z ALPHA
SORT z BY nosort
SORT z BY nosort DESC
SORT z BY nosort LIMIT 1 2
SORT z BY nosort DESC LIMIT 1 2 GET # GET w_*
SORT z BY nosort DESC LIMIT 4 5
SORT z BY nosort DESC LIMIT 9 5
SORT z BY nosort DESC STORE out
LRANGE out 0 -1
ZADD numbers 1 30 2 20 3 10
SORT numbers
SORT numbers DESC LIMIT 0 2
SORT_RO numbers BY w_*
SORT ids STORE out STORE out2
EXISTS out
LRANGE out2 0 -1
OBJECT ENCODING out2
RPUSH {t}l 1 2
MSET {t}w_1 2 {t}w_2 1
SORT {t}l BY {t}w_*
SORT {t}l BY {t}w_* GET # GET {t}w_* STORE {t}out
LRANGE {t}out 0 -1
COMMAND GETKEYS SORT a BY b_* STORE c GET d STORE e
COMMAND GETKEYS SORT a STORE
COMMAND GETKEYS SORT_RO a STORE b
COMMAND GETKEYSANDFLAGS SORT a LIMIT STORE x STORE y
# Redis may refuse every number from here on.
RPUSH bad3 1 1e999
SORT bad3
RPUSH bad4 1 1e-400
SORT bad4
`)
	})
}

// Random sorts of short and long collections must be answered alike, alone and in pipelines,
// behind commands that change what they look at.
func TestRandomSortsAnswerAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	seed := randomtest.Seed(t)
	pipelines := randomtest.Length(250, 15)
	for _, most := range []int{8, 300, 3000} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			differential(t, func(d *differ) {
				rnd := rand.New(rand.NewPCG(seed, uint64(most)))
				pick := func(words ...string) string { return words[rnd.IntN(len(words))] }
				some := func(args ...string) []string {
					for range 1 + rnd.IntN(most) {
						args = append(args, fmt.Sprint(rnd.IntN(2*most)-most))
					}
					return args
				}
				d.do("SET", "text", "x")
				for range pipelines {
					var cmds [][]string
					for range 1 + rnd.IntN(8) {
						var cmd []string
						switch rnd.IntN(9) {
						case 0:
							if rnd.IntN(3) == 0 {
								cmd = []string{"ZADD", "z"}
								for range 1 + rnd.IntN(most) {
									cmd = append(cmd, fmt.Sprint(rnd.IntN(most)), fmt.Sprint(rnd.IntN(2*most)-most))
								}
								break
							}
							cmd = some("RPUSH", pick("l", "l2"))
						case 1:
							cmd = some("SADD", "s")
						case 2:
							cmd = []string{"DEL", pick("l", "l2", "s", "z", "out")}
						case 3:
							cmd = []string{"SET", fmt.Sprint("w_", rnd.IntN(most)-most/2), fmt.Sprint(rnd.NormFloat64())}
						case 4:
							cmd = []string{"HSET", fmt.Sprint("h_", rnd.IntN(most)), "f", noise(rnd.IntN(20))}
						case 5:
							cmd = []string{"LRANGE", "out", "0", "-1"}
						default:
							cmd = []string{pick("SORT", "SORT", "SORT_RO"), pick("l", "l", "l2", "s", "s", "z", "z", "out", "text", "nope")}
							unordered := cmd[1] == "s"
							for range rnd.IntN(4) {
								switch rnd.IntN(7) {
								case 0:
									cmd = append(cmd, "BY", pick("w_*", "nope_*", "w_*"))
								case 1:
									cmd = append(cmd, "GET", pick("#", "w_*", "h_*->f", "nope"))
								case 2:
									cmd = append(cmd, "LIMIT", fmt.Sprint(rnd.IntN(12)-2), fmt.Sprint(rnd.IntN(20)-2))
								case 3:
									cmd = append(cmd, "DESC")
								case 4:
									if !strings.Contains(strings.Join(cmd, " "), "BY") {
										cmd = append(cmd, "ALPHA")
									}
								case 5:
									if !unordered {
										cmd = append(cmd, "BY", "nosort")
									}
								case 6:
									if cmd[0] == "SORT" {
										cmd = append(cmd, "STORE", pick("out", "l2"))
									}
								}
							}
							if text := strings.Join(cmd, " "); strings.Contains(text, "ALPHA") && strings.Contains(text, "BY ") {
								cmd = []string{"SORT", "l"} // what is equal comes in any order
							}
						}
						cmds = append(cmds, cmd)
					}
					d.pipeline(cmds)
				}
			})
		})
	}
}
