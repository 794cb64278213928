package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ringside-kv/ringside/resp/node"
)

//go:embed workloads.json
var workloadsJSON []byte

// rows are the commands, pairings and workloads of workloads.json.
var rows = func() (t struct {
	Commands map[string]*command
	Pairings []pairing // in the order in which they are measured
	Forward  pairing   // measured instead with --forward
	Cores    pairing   // measured instead with --cores
	Large    []largeKind
}) {
	if err := json.Unmarshal(workloadsJSON, &t); err != nil {
		panic(err)
	}
	return t
}()

// Placeholders of requests and elements.
const (
	anyNumber  = "__rand_int__" // a number of the keyspace in twelve digits; redis-benchmark knows it by this name, too
	valueMark  = "<value>"
	keyMark    = "<key>"
	indexMark  = "<i>"      // the index of an element
	numberMark = "<number>" // likewise, in twelve digits
)

// keyDigits is the number of digits that redis-benchmark writes for [anyNumber].
const keyDigits = 12

// A command is one request of a load and the data that it needs.
type command struct {
	Request []string
	// Label begins the two lines of the table; empty: the name and the pipeline do.
	Label [2]string
	// Key is deleted before each measurement; empty: nothing is.
	Key string
	// Collection is what Key holds then; nil: nothing.
	Collection *collection
	// Elements is the size of the collection; 0: more than the requests of a measurement remove.
	Elements int
	// Left is the command that counts the elements of Key. If none is left after a measurement, some
	// requests found nothing, which is an error.
	Left string
	// Audience is the number of clients that are subscribed to the channel Request[1]. All must get
	// all messages.
	Audience int
}

// A collection says how a hash, list, set, sorted set or stream is filled.
type collection struct {
	Add     string   // the command
	Element []string // its arguments for an element
	Batch   int      // elements of one command
}

// A pairing is a set of contenders in corresponding modes with their workloads.
type pairing struct {
	Title     string
	Mode      string   // last word of the workloads' names
	Ringside  []string // further flags
	Redis     []string // likewise
	ValueSize int      `json:"value_size"`
	Fill      bool     // write all keys before the first measurement
	Uncached  bool     // Ringside has no cache of values
	Workloads []workload
}

// Modes in which Ringside is not paired with Redis.
const (
	forwardMode = "forward"
	coresMode   = "cores"
)

// A workload is one row of the table. Targets of 0 are none.
type workload struct {
	Command  string // key of rows.Commands
	Pipeline int
	Share    float64 // of --requests: a measurement is to take a few seconds
	// MinRatio is the target for Ringside's ops/s over those of Redis, MaxP99 for its p99.
	MinRatio float64 `json:"min_ratio"`
	MaxP99   float64 `json:"max_p99"`
	// CachedMinRatio is MinRatio where the cache holds the whole keyspace.
	CachedMinRatio float64 `json:"cached_min_ratio"`

	do        *command
	name      string
	requests  int // a multiple of Pipeline
	valueSize int
}

// selectPairings returns the pairings that the options ask for, with those workloads that --only matches.
func selectPairings(opt options) (chosen []pairing, err error) {
	all := rows.Pairings
	if opt.forward {
		p := rows.Forward
		p.Title = fmt.Sprintf(p.Title, opt.backends)
		all = []pairing{p}
	}
	if opt.cores {
		all = []pairing{rows.Cores}
	}
	var names []string
	for _, p := range all {
		var some []workload
		for _, w := range p.Workloads {
			w.derive(&p, opt)
			names = append(names, w.name)
			if opt.only == nil || opt.only.MatchString(w.name) {
				some = append(some, w)
			}
		}
		if p.Workloads = some; len(some) > 0 {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 {
		err = fmt.Errorf("--only: no workload matches %q; there are:\n  %s", opt.only, strings.Join(names, "\n  "))
	}
	return chosen, err
}

// entryOverhead is a generous estimate of what a key and its place in the cache take beside the
// value, in bytes.
const entryOverhead = 128

// derive sets what follows from the row, its pairing and the options.
func (w *workload) derive(p *pairing, opt options) {
	w.do, w.valueSize = rows.Commands[w.Command], p.ValueSize
	w.name = fmt.Sprintf("%s %s P%d %s", w.Command, sizeName(p.ValueSize), w.Pipeline, p.Mode)
	requests := max(int(float64(opt.requests)*w.Share), opt.clients*w.Pipeline)
	w.requests = (requests + w.Pipeline - 1) / w.Pipeline * w.Pipeline
	if !p.Uncached && int64(opt.keys)*int64(p.ValueSize+entryOverhead) <= node.DefaultConfig().Cache {
		w.MinRatio = max(w.MinRatio, w.CachedMinRatio)
	}
}

func sizeName(n int) string {
	if n >= 1024 && n%1024 == 0 {
		return fmt.Sprintf("%dKiB", n/1024)
	}
	return fmt.Sprintf("%dB", n)
}

// expand returns the words with texts in place of placeholders, which alternate in with.
func expand(words []string, with ...string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		for p := 0; p < len(with); p += 2 {
			word = strings.ReplaceAll(word, with[p], with[p+1])
		}
		out[i] = word
	}
	return out
}
