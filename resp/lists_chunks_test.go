package resp

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// A list that is rotated several times in one unit, a transaction, a script or a pipeline, keeps its elements.
func TestListIsRotatedWithinOneUnit(t *testing.T) {
	_, addr := serveTest(t, nil)
	for name, rotate := range map[string]func(o *resptest.Conn){
		"transaction": func(o *resptest.Conn) {
			o.Do("MULTI")
			for range 4 {
				o.Do("LMOVE", "k", "k", "LEFT", "RIGHT")
			}
			o.Do("EXEC")
		},
		"script": func(o *resptest.Conn) {
			o.Do("EVAL", "for i = 1, 4 do redis.call('LMOVE', KEYS[1], KEYS[1], 'LEFT', 'RIGHT') end", "1", "k")
		},
		"pipeline": func(o *resptest.Conn) {
			o.DoAll(slices.Repeat([][]string{{"RPOPLPUSH", "k", "k"}, {"LMOVE", "k", "k", "LEFT", "RIGHT"}, {"LMOVE", "k", "k", "LEFT", "RIGHT"}}, 4))
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := resptest.Dial(t, addr, 2)
			o.Do("DEL", "k")
			push := []string{"RPUSH", "k"}
			for i := range 400 {
				push = append(push, fmt.Sprint("element", i))
			}
			o.Do(push...)
			rotate(o)
			push = append(push[:2], append(push[6:], push[2:6]...)...)
			got := o.Do("LRANGE", "k", "0", "-1")
			if len(got.Elems) != 400 {
				t.Fatalf("%d elements are left", len(got.Elems))
			}
			for i, e := range got.Elems {
				if e.Text != push[2+i] {
					t.Fatalf("element %d is %s, want %s", i, e.Text, push[2+i])
				}
			}
		})
	}
}
