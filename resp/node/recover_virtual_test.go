package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/table"
)

// cuts are the moments at which a recovery of two directories can be cut short, and what
// each leaves: before is a directory as it was, after as it becomes.
var cuts = []struct {
	name        string
	first, last func(t *testing.T, dir, before, after string)
}{
	{"one knows the plan", planned, nil},
	{"both know it", planned, planned},
	{"a table is being built", building, planned},
	{"a table is away", away, planned},
	{"a table is replaced", replacedTable, planned},
	{"one has gone on", goneOn, planned},
	{"the other's table is away", goneOn, away},
	{"the other's is replaced", goneOn, replacedTable},
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyDir(t *testing.T, to, from string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

func planned(t *testing.T, dir, _, after string) {
	copyFile(t, filepath.Join(dir, planFile), filepath.Join(after, planFile))
}

func building(t *testing.T, dir, before, after string) {
	planned(t, dir, before, after)
	next := filepath.Join(dir, raftName+".new")
	if err := os.Mkdir(next, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(next, "begun"), []byte("half of a file"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func away(t *testing.T, dir, before, after string) {
	planned(t, dir, before, after)
	copyDir(t, filepath.Join(dir, raftName+".new"), filepath.Join(after, raftName))
	b := belongingIn(t, before)
	if err := os.Rename(filepath.Join(dir, raftName), filepath.Join(dir, fmt.Sprintf("%s.%d", raftName, b.Generation))); err != nil {
		t.Fatal(err)
	}
}

func replacedTable(t *testing.T, dir, before, after string) {
	away(t, dir, before, after)
	if err := os.Rename(filepath.Join(dir, raftName+".new"), filepath.Join(dir, raftName)); err != nil {
		t.Fatal(err)
	}
}

func goneOn(t *testing.T, dir, before, after string) {
	replacedTable(t, dir, before, after)
	copyFile(t, filepath.Join(dir, membershipFile), filepath.Join(after, membershipFile))
}

func belongingIn(t *testing.T, dir string) membership {
	t.Helper()
	b, err := loadAnyMembership(dir)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Two of five nodes are left, as directories. A recovery of them that is cut short,
// wherever, keeps both from starting and is finished by the same again; then both go on
// with all that they had, and refuse the rest.
func TestInterruptedRecoveryIsFinished(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.Backups = 1 })
		ids := []string{"a", "b", "c", "d", "e"}
		c.start("a")
		for _, id := range ids[1:] {
			c.start(id, "a")
		}
		c.settled()
		c.inSync(1)
		c.within(time.Minute, "five vote", func() bool { return len(c.nodes["a"].cluster.table.Voters()) == 5 })
		time.Sleep(5 * time.Second) // the rows do not change any more

		client := c.client("a")
		there := make(map[string]bool) // whether a key outlives the three
		st, placing := c.nodes["a"].cluster.table.State(), c.nodes["a"].cluster.strategy
		for i := range 200 {
			key := fmt.Sprint("key", i)
			if err := client.Set(t.Context(), key, key, 0).Err(); err != nil {
				t.Fatal(err)
			}
			row, _ := st.Row(placing.Token([]byte(key)))
			there[key] = slices.ContainsFunc([]string{"a", "b"}, row.Holds)
		}
		_ = client.Close()
		for _, id := range []string{"c", "d", "e", "a", "b"} {
			c.crash(id)
		}

		before := []string{c.nodes["a"].dir, c.nodes["b"].dir}
		after := []string{t.TempDir(), t.TempDir()}
		copyDir(t, after[0], before[0])
		// Of the other one, what is needed comes from another machine.
		copyDir(t, filepath.Join(after[1], raftName), filepath.Join(before[1], raftName))
		copyFile(t, filepath.Join(after[1], membershipFile), filepath.Join(before[1], membershipFile))
		if r, err := Recover(after, true); err != nil || r.Resumed || belongingIn(t, after[0]) != belongingIn(t, before[0]) {
			t.Fatalf("to be told what would be done: %v, %v", r, err)
		}
		whole, err := Recover(after, false)
		if err != nil || whole.Resumed || whole.Nothing {
			t.Fatalf("%+v, %v", whole, err)
		}
		for _, cut := range cuts {
			dirs := []string{t.TempDir(), t.TempDir()}
			for i, stop := range []func(t *testing.T, dir, before, after string){cut.first, cut.last} {
				copyDir(t, dirs[i], before[i])
				if stop == nil {
					continue
				}
				stop(t, dirs[i], before[i], after[i])
				b := belongingIn(t, dirs[i])
				if err := refuseUnfinished(dirs[i], b); b.Generation != whole.To && !errors.Is(err, ErrRecovering) || b.Generation == whole.To && err != nil {
					t.Errorf("%s: a start of %d of generation %d: %v", cut.name, i, b.Generation, err)
				}
			}
			c.nodes["a"].dir, c.nodes["b"].dir = dirs[0], dirs[1]
			r, err := Recover(dirs, false)
			if err != nil || !r.Resumed || r.To != whole.To {
				t.Fatalf("%s: %+v, %v", cut.name, r, err)
			}
			for _, dir := range dirs {
				remains, err := table.ReadRemains(filepath.Join(dir, raftName))
				if err != nil || remains.State.Cluster().Generation != whole.To || belongingIn(t, dir).Generation != whole.To || refuseUnfinished(dir, belongingIn(t, dir)) != nil {
					t.Errorf("%s: %s: %+v, %v", cut.name, dir, remains, err)
				}
			}
			if r, err := Recover(dirs, false); err != nil || !r.Nothing {
				t.Errorf("%s: once more: %+v, %v", cut.name, r, err)
			}
		}

		// The last of them goes on.
		c.start("a", "b")
		c.start("b", "a")
		client = c.client("b")
		for key, left := range there {
			if left {
				c.within(time.Minute, key, func() bool { return client.Get(t.Context(), key).Val() == key })
			}
		}
		for key, left := range there {
			if !left {
				c.wantDown(key)
				break
			}
		}
		c.within(time.Minute, "what is lost is made anew", func() bool {
			return client.Do(t.Context(), "RING", "RECREATE", "ALL").Err() == nil
		})
		for key, left := range there {
			c.within(time.Minute, key, func() bool {
				got, err := client.Get(t.Context(), key).Result()
				return left && got == key || !left && err != nil && strings.HasPrefix(err.Error(), "redis: nil")
			})
		}
		_ = client.Close()
		c.close()
	})
}
