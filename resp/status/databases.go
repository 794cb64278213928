package status

import (
	"cmp"
	"fmt"
	"strconv"
)

// A Database is one of the numbered databases of a cluster.
type Database struct {
	Number int `json:"number"`
	// Together reports that all its keys lie at one place, which Primary serves.
	Together bool `json:"together"`
	// Moved is how many percent of the keys have moved to where the policy has them; nil once all have.
	Moved   *int   `json:"moved_percent,omitempty"`
	Primary string `json:"primary,omitempty"`
	// Bytes is an estimate of the data at the nodes that have answered, copies not counted.
	Bytes int64 `json:"bytes"`
	// Quota is how many bytes it may have, Policy what is evicted then; zero: what the nodes' settings say.
	Quota  int64  `json:"quota_bytes,omitempty"`
	Policy string `json:"policy,omitempty"`
}

// databases draws the databases, unless there is only database 0 without a policy.
func (d *drawing) databases() {
	all := d.r.Databases
	if len(all) == 0 || len(all) == 1 && all[0] == (Database{Bytes: all[0].Bytes}) {
		return
	}
	d.out.WriteString("\n" + tabulate(d, all, func(label map[string]string) []column[Database] {
		return []column[Database]{
			{head: "database", get: func(b *Database) string { return strconv.Itoa(b.Number) }},
			{head: "keys are", left: true, get: func(b *Database) string {
				switch {
				case b.Moved != nil && b.Together:
					return fmt.Sprintf("moving together, %d %%", *b.Moved)
				case b.Moved != nil:
					return fmt.Sprintf("moving apart, %d %%", *b.Moved)
				case b.Primary != "":
					return "together at " + label[b.Primary]
				case b.Together:
					return "together"
				}
				return "spread"
			}},
			{head: "bytes", get: func(b *Database) string { return size(b.Bytes) }},
			{head: "quota", get: func(b *Database) string {
				if b.Quota == 0 {
					return none
				}
				return size(b.Quota)
			}},
			{head: "eviction", left: true, get: func(b *Database) string { return cmp.Or(b.Policy, none) }},
		}
	}))
}
