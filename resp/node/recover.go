package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/internal/machine"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node/internal/lastrun"
)

// # Continuing without the majority
//
// Recover makes a new generation of a cluster from the directories of the remaining nodes. The
// result is decided once, as a plan, and written into each directory before any of them is changed.
// Then, in each directory, the new table is built beside the old one and takes its place, and at
// last the directory records the new generation. If this is interrupted, repeating the command
// completes it by the stored plan. Until then no node starts in a directory that has a plan and is
// still of the old generation.

const (
	planFile   = "recovery.json"
	planFormat = 1
	// maxPlanFile bounds the size of the file that is read.
	maxPlanFile = 1 << 30
)

var (
	// ErrRecovering says that the recovery of a directory was begun and is not finished.
	ErrRecovering = errors.New("the recovery of this directory was cut short")
	// ErrRecover says why nothing can be recovered as it was asked for.
	ErrRecover = errors.New("cannot recover")
)

// A recoveryPlan is the result of a recovery, stored before it is applied.
type recoveryPlan struct {
	Format  int    `json:"format"`
	Cluster string `json:"cluster"`
	// From is the generation that lost its majority, To the one that goes on.
	From uint64 `json:"from,string"`
	To   uint64 `json:"to,string"`
	// Term and Table are what the nodes begin with; Voter is the one that votes.
	Term  uint64         `json:"term,string"`
	Voter string         `json:"voter"`
	Nodes []recoveryNode `json:"nodes"`
	Table []byte         `json:"table"`
}

type recoveryNode struct {
	ID     string `json:"id"`
	Server string `json:"server"`
}

// A Recovery describes what a recovery does, or would do.
type Recovery struct {
	Cluster  string
	From, To uint64 // generations
	Nodes    []string
	Voter    string
	// Resumed reports that an earlier recovery was completed.
	Resumed bool
	// Nothing reports that there was nothing left to do.
	Nothing bool
	*table.Recovered
}

// A survivor is the directory of a node that is left.
type survivor struct {
	dir        string
	membership membership
	plan       *recoveryPlan // of an earlier recovery
	remains    *table.Remains
	id         string
	// incomplete reports that by the record of its last start the directory may have lost
	// acknowledged writes.
	incomplete bool
}

// Recover continues a cluster that has lost the majority of its voters for good, with the nodes of
// these directories, none of which may be running. It can be repeated, and completes an interrupted
// recovery. With dry it changes nothing. Data that was only on other nodes stays lost.
func Recover(dirs []string, dry bool) (*Recovery, error) {
	var left []*survivor
	var faults []error
	for _, dir := range dirs {
		s, err := openSurvivor(dir)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		left = append(left, s)
	}
	if len(dirs) == 0 {
		faults = append(faults, fmt.Errorf("%w: no directory is named", ErrRecover))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	p, r, err := choosePlan(left)
	if err != nil || r.Nothing || dry {
		return r, err
	}
	for _, s := range left {
		if s.membership.Generation == p.From {
			if err := p.save(s.dir); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range left {
		if err := p.apply(s); err != nil {
			return nil, fmt.Errorf("%s: %w; repeat the command to continue", s.dir, err)
		}
	}
	return r, nil
}

func openSurvivor(dir string) (*survivor, error) {
	b, err := loadAnyMembership(dir)
	if err != nil {
		return nil, err
	}
	if !b.Entered || b.Generation == 0 {
		return nil, fmt.Errorf("%w: %s is in no cluster", ErrRecover, dir)
	}
	s := &survivor{dir: dir, membership: b}
	if s.incomplete, err = mayHaveLost(dir); err != nil {
		return nil, err
	}
	if s.plan, err = loadPlan(dir); err != nil {
		return nil, err
	}
	raftDir := filepath.Join(dir, raftName)
	switch s.remains, err = table.ReadRemains(raftDir); {
	case errors.Is(err, table.ErrInUse):
		return nil, fmt.Errorf("%w: the node in %s runs: stop it first", ErrRecover, dir)
	case errors.Is(err, fs.ErrNotExist) && s.plan != nil && s.plan.From == b.Generation:
		return s, nil // cut short when the new table was to take the place of the old one
	case err != nil:
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if s.id = s.remains.Owner(nil); s.id == "" {
		return nil, fmt.Errorf("%w: the table in %s does not know the node that it belongs to", ErrRecover, dir)
	}
	return s, nil
}

// mayHaveLost reports whether a directory may have lost acknowledged writes since the cluster has
// registered a start of its node. A directory without a record, as of parts from another machine,
// tells nothing.
func mayHaveLost(dir string) (bool, error) {
	if known, err := lastrun.Exists(dir); err != nil || !known {
		return false, err
	}
	last, err := lastrun.Load(dir)
	around := lastrun.Conditions{Boot: machine.BootID(), Place: machine.FileIdentity(filepath.Join(dir, lockFile))}
	return last.Lost || !last.Survived(around), err
}

// loadAnyMembership is for a directory of whatever cluster.
func loadAnyMembership(dir string) (membership, error) {
	text, err := os.ReadFile(filepath.Join(dir, membershipFile))
	if errors.Is(err, fs.ErrNotExist) {
		return membership{}, fmt.Errorf("%w: %s is not the directory of a node of a cluster", ErrRecover, dir)
	} else if err != nil {
		return membership{}, err
	}
	var b membership
	if err := durable.Unseal(text, &b); err != nil {
		return b, readDamaged(filepath.Join(dir, membershipFile), err)
	}
	return loadMembership(dir, b.Cluster)
}

// choosePlan finds the plan that is to be finished, or makes one.
func choosePlan(left []*survivor) (*recoveryPlan, *Recovery, error) {
	var pending *recoveryPlan
	for _, s := range left {
		switch {
		case s.plan == nil || s.plan.From != s.membership.Generation:
		case pending == nil:
			pending = s.plan
		case pending.To != s.plan.To:
			return nil, nil, fmt.Errorf("%w: two recoveries were begun, to generations %d and %d: finish each with the directories that it was begun with",
				ErrRecover, pending.To, s.plan.To)
		}
	}
	if pending != nil {
		return resume(pending, left)
	}
	newest := left[0]
	ids := make(map[string]string)
	for _, s := range left {
		if s.membership.Cluster != left[0].membership.Cluster || s.membership.Generation != left[0].membership.Generation {
			return nil, nil, fmt.Errorf("%w: %s is of generation %d of cluster %q, %s of generation %d of %q", ErrRecover,
				s.dir, s.membership.Generation, s.membership.Cluster, left[0].dir, left[0].membership.Generation, left[0].membership.Cluster)
		}
		if other, twice := ids[s.id]; twice {
			return nil, nil, fmt.Errorf("%w: %s and %s are both of node %s", ErrRecover, other, s.dir, s.id)
		}
		ids[s.id] = s.dir
		if s.remains.Later(newest.remains) {
			newest = s
		}
	}
	if done := alreadyDone(left, newest); done != nil {
		return nil, done, nil
	}
	return makePlan(left, newest)
}

// alreadyDone is what a finished recovery has come to, unless nodes have run since.
func alreadyDone(left []*survivor, newest *survivor) *Recovery {
	for _, s := range left {
		if s.plan == nil || s.plan.To != s.membership.Generation || s.remains.State.Index() != newest.remains.State.Index() || s.remains.Term != s.plan.Term {
			return nil
		}
	}
	r := left[0].plan.report()
	r.Nothing = true
	return r
}

func makePlan(left []*survivor, newest *survivor) (*recoveryPlan, *Recovery, error) {
	st := newest.remains.State
	p := &recoveryPlan{
		Format: planFormat, Cluster: newest.membership.Cluster, From: newest.membership.Generation, To: newGeneration(),
	}
	index := uint64(0)
	var nodes []table.Survivor
	for _, s := range left {
		n, ok := st.Node(s.id)
		if !ok || n.State == table.Gone || n.Server != s.remains.Server {
			return nil, nil, fmt.Errorf("%w: by the table in %s, which is the newest, %s in %s is not of the cluster any more", ErrRecover, newest.dir, s.id, s.dir)
		}
		nodes = append(nodes, table.Survivor{ID: s.id, Incomplete: s.incomplete})
		p.Nodes = append(p.Nodes, recoveryNode{s.id, s.remains.Server})
		p.Term, index = max(p.Term, s.remains.Term), max(index, s.remains.Index)
		if n.Role == table.Store && (p.Voter == "" || s == newest) {
			p.Voter = s.id
		}
	}
	if p.Voter == "" {
		return nil, nil, fmt.Errorf("%w: none of the directories is one of a node that holds data", ErrRecover)
	}
	p.Term++
	made := st.Recover(index+1, p.To, nodes)
	if err := made.State.Check(); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrRecover, err)
	}
	var err error
	if p.Table, err = made.State.MarshalBinary(); err != nil {
		return nil, nil, err
	}
	r := p.report()
	r.Recovered = made
	return p, r, nil
}

func (p *recoveryPlan) report() *Recovery {
	r := &Recovery{Cluster: p.Cluster, From: p.From, To: p.To, Voter: p.Voter}
	for _, n := range p.Nodes {
		r.Nodes = append(r.Nodes, n.ID)
	}
	return r
}

// resume goes on with a plan that some directories have and have not carried out.
func resume(p *recoveryPlan, left []*survivor) (*recoveryPlan, *Recovery, error) {
	for _, s := range left {
		switch {
		case s.membership.Cluster != p.Cluster || s.membership.Generation != p.From && s.membership.Generation != p.To:
			return nil, nil, fmt.Errorf("%w: %s is of generation %d of cluster %q; a recovery from generation %d to %d of %q was begun, and is to be finished first",
				ErrRecover, s.dir, s.membership.Generation, s.membership.Cluster, p.From, p.To, p.Cluster)
		case s.remains != nil && !slices.ContainsFunc(p.Nodes, func(n recoveryNode) bool { return n.Server == s.remains.Server }):
			return nil, nil, fmt.Errorf("%w: a recovery was begun without %s, and is to be finished so", ErrRecover, s.dir)
		}
	}
	r := p.report()
	r.Resumed = true
	return p, r, nil
}

// apply has a directory go on as the plan says. It may have been begun.
func (p *recoveryPlan) apply(s *survivor) error {
	if s.membership.Generation == p.To {
		return nil
	}
	at, next := filepath.Join(s.dir, raftName), filepath.Join(s.dir, raftName+".new")
	if s.remains == nil || s.remains.State.Cluster().Generation != p.To {
		if err := p.replace(s, at, next); err != nil {
			return err
		}
	}
	b := s.membership
	b.Generation, b.Founder, b.Entered = p.To, "", true
	return b.save(s.dir)
}

// replace builds the new table and puts it where the old one is, which is kept beside it.
func (p *recoveryPlan) replace(s *survivor, at, next string) error {
	st := new(table.State)
	if err := st.UnmarshalBinary(p.Table); err != nil {
		return err
	}
	server := ""
	old := fmt.Sprintf("%s.%d", at, p.From)
	if s.remains != nil {
		server = s.remains.Server
	} else {
		before, err := table.ReadRemains(old)
		if err != nil {
			return err
		}
		server = before.Server
	}
	var nodes []table.Node
	for _, n := range p.Nodes {
		node, _ := st.Node(n.ID)
		nodes = append(nodes, node)
	}
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := table.WriteRecovered(next, server, p.Term, st, nodes, p.Voter); err != nil {
		return err
	}
	if s.remains != nil {
		if err := os.Rename(at, old); err != nil {
			return err
		}
	}
	if err := os.Rename(next, at); err != nil {
		return err
	}
	return durable.SyncDir(s.dir)
}

func loadPlan(dir string) (*recoveryPlan, error) {
	path := filepath.Join(dir, planFile)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read of a recovery: %w", err)
	case info.Size() > maxPlanFile:
		return nil, fmt.Errorf("read of a recovery: %s has %d bytes", path, info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read of a recovery: %w", err)
	}
	p := new(recoveryPlan)
	if err := durable.Unseal(text, p); err != nil {
		return nil, fmt.Errorf("read of a recovery: %s is damaged: %w: restore it from a copy, of this directory or of another "+
			"that takes part in the recovery; if no node has been started since, delete it in each of them, and recover anew", path, err)
	}
	if p.Format != planFormat {
		return nil, fmt.Errorf("read of a recovery: %s: format %d is not %d", path, p.Format, planFormat)
	}
	return p, nil
}

func (p *recoveryPlan) save(dir string) error {
	if err := saveJSON(dir, planFile, p); err != nil {
		return fmt.Errorf("note what is to be recovered: %w", err)
	}
	return nil
}

// refuseUnfinished keeps a node from starting between two tables.
func refuseUnfinished(dir string, b membership) error {
	p, err := loadPlan(dir)
	if err != nil {
		return err
	}
	if p == nil || p.From != b.Generation {
		return nil
	}
	var ids []string
	for _, n := range p.Nodes {
		ids = append(ids, n.ID)
	}
	return fmt.Errorf("%w: run ringside recover once more, with the directories of %s", ErrRecovering, strings.Join(ids, ", "))
}
