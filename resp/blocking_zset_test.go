package resp

import "testing"

func TestBlockingSortedSetCommandsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		newCrew(d).run(`
p SET text x
p ZADD z 1 a 2 b 3 c 4 d 5 e 6 f
p BZPOPMIN z 0
p BZPOPMAX nope z 0
p BZPOPMIN text z 0
p BZPOPMIN z x
p BZPOPMAX z -1
p BZPOPMAX z
p BZMPOP 0 2 nope z MIN
p BZMPOP 0 1 z MAX COUNT 2
p BZMPOP x 1 z MIN
p BZMPOP x 0 z MIN
p BZMPOP -1 1 z MIN
p BZMPOP 0 1 z UP
p BZMPOP 0 1 z MIN COUNT 0
p BZMPOP 0 1 text MIN
p BZPOPMIN nope 0.01
p BZPOPMAX nope 0.01
p BZMPOP 0.01 1 nope MIN
p DEL z
a~ BZPOPMIN y z 0
b~ BZPOPMAX z 0
c~ BZMPOP 0 2 z y MIN COUNT 2
e~ BZPOPMIN z 0
p ZADD z 1.5 a 2 b 3 c 4 d
a
b
c
p EXISTS z
p ZINCRBY z 7 x
e
a~ BZPOPMIN z 0
b~ BLPOP z 0
p LPUSH z x
b
p ZADD q 1 x
p ZUNIONSTORE z 1 q
a
p MULTI
p BZPOPMIN z 0
p BZMPOP 0 1 z MIN
p EXEC
`)
	})
}
