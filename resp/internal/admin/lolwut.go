package admin

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// cmdLolwut draws a circle of tokens with the nodes of a cluster that never was.
func cmdLolwut(x *call) {
	if len(x.Args) >= 3 && wire.EqualFold(x.Args[1], "version") {
		if _, ok := wire.ParseInt(x.Args[2]); !ok {
			x.Error(command.MsgNotInteger)
			return
		}
	}
	x.Verbatim(drawRing(3+rand.IntN(6)) + fmt.Sprintf("Ringside ver. %s, Redis ver. %s\n", x.srv.Version, RedisVersion))
}

// drawRing draws a circle of arcs, as many as there are nodes.
func drawRing(nodes int) string {
	const radius, wide = 9.0, 2.1 // a character is about twice as high as it is wide
	const marks = "#o+*x.@="
	var b strings.Builder
	for y := -radius; y <= radius; y++ {
		line := ""
		for column := -radius * wide; column <= radius*wide; column++ {
			angle := math.Atan2(y, column/wide)/(2*math.Pi) + 0.5
			mark := " "
			if r := math.Hypot(column/wide, y); r > radius-2 && r < radius+0.3 {
				mark = string(marks[int(angle*float64(nodes))%nodes%len(marks)])
			}
			line += mark
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
