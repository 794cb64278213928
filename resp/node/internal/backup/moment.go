package backup

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/moment"
	"github.com/ringside-kv/ringside/ring"
)

const (
	// attempts is how often a moment is tried.
	attempts = 5
	// prepareTimeout is how long connections to all primaries may take, and they to write what only their caches hold.
	prepareTimeout = 5 * time.Second
)

// errAgain is what another attempt may not meet.
type errAgain struct{ error }

// Unwrap implements the interface of package errors.
func (e errAgain) Unwrap() error { return e.error }

// Command carries out RING BACKUP: START, or READ, RENEW or STOP with the id of a backup and a node. It returns
// JSON, for READ with bytes of the stream behind it. gone is closed when the connection of the client ends; nil if
// there is none.
func (k *Keeper) Command(ctx context.Context, words []string, gone <-chan struct{}) ([]byte, error) {
	verb := strings.ToLower(words[0])
	q := request{Verb: verb}
	switch {
	case verb == "start" && len(words) == 1:
		m, err := k.start(ctx)
		if err != nil {
			return nil, err
		}
		var nodes []string
		for _, p := range m.Parts {
			nodes = append(nodes, p.Node)
		}
		k.clients.use(gone, m.ID, nodes, k.lost)
		return json.Marshal(m)
	case verb == verbRead && len(words) == 4:
		var err error
		if q.Offset, err = strconv.ParseInt(words[3], 10, 64); err != nil || q.Offset < 0 {
			return nil, fmt.Errorf("%.40q is not an offset", words[3])
		}
	case (verb == verbRenew || verb == verbStop) && len(words) == 3:
	default:
		return nil, errors.New("RING BACKUP takes START, READ id node offset, RENEW id node, or STOP id node")
	}
	q.ID = words[1]
	if verb == verbStop {
		k.clients.stop(q.ID, words[2])
	}
	message, err := k.ask(ctx, words[2], &q)
	if err != nil {
		return nil, err
	}
	if a, _, err := decode(message); err != nil || a.Error != "" {
		return nil, cmp.Or(err, errors.New(a.Error))
	}
	if verb != verbStop {
		k.clients.use(gone, q.ID, words[2:3], k.lost)
	}
	return message, nil
}

func (k *Keeper) ask(ctx context.Context, node string, q *request) ([]byte, error) {
	message, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	if node == k.cfg.Self {
		return k.Answer(ctx, message), nil
	}
	reply, err := k.cfg.Ask(ctx, node, message)
	if err != nil {
		return nil, fmt.Errorf("node %s does not answer: it is gone, or its build knows no backups: %w", node, err)
	}
	return reply, nil
}

// start tries until there is a moment.
func (k *Keeper) start(ctx context.Context) (*moment.Moment, error) {
	for n := 1; ; n++ {
		m, err := k.try(ctx)
		if err == nil || n == attempts || !errors.As(err, new(errAgain)) {
			return m, err
		}
		timer := time.NewTimer(time.Duration(n) * 100 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
	}
}

// try has all primaries hold, and returns the moment if it counts.
func (k *Keeper) try(ctx context.Context) (*moment.Moment, error) {
	nodes, err := primaries(k.cfg.State())
	if err != nil {
		return nil, errAgain{err}
	}
	var id [8]byte
	_, _ = rand.Read(id[:])
	m := &moment.Moment{ID: hex.EncodeToString(id[:])}
	// Connections are made first, and most of the caches is written, so that writes are not held meanwhile.
	soon, cancel := context.WithTimeout(ctx, prepareTimeout)
	_, err = k.askAll(soon, nodes, &request{Verb: verbPrepare})
	cancel()
	if err != nil {
		return nil, err
	}
	m.Version = k.cfg.Version
	// While no key moves from place to place, all nodes know which one of two copies counts.
	if k.cfg.PauseMoves != nil {
		resume, err := k.cfg.PauseMoves(ctx)
		if err != nil {
			return nil, errAgain{err}
		}
		defer resume(ctx)
	}
	swaps, steps := describe(m, k.cfg.State())
	if steps > 0 { // a node that hears of the pause only when it holds would spoil the moment
		soon, cancel = context.WithTimeout(ctx, prepareTimeout)
		_, err = k.askAll(soon, nodes, &request{Verb: verbPrepare, Steps: steps})
		if cancel(); err != nil {
			return nil, err
		}
	}
	soon, cancel = context.WithTimeout(ctx, maxHold)
	held, err := k.askAll(soon, nodes, &request{Verb: verbHold, ID: m.ID, HoldMS: maxHold.Milliseconds()})
	cancel()
	m.AtMS = time.Now().UnixMilli()
	var released []answer
	if err == nil {
		released, err = k.askAll(ctx, nodes, &request{Verb: verbRelease, ID: m.ID})
	}
	if err == nil {
		err = covers(held)
	}
	if err == nil && slices.ContainsFunc(held, func(a answer) bool { return a.Swaps != swaps || a.Steps != steps }) {
		err = errAgain{errors.New("databases are being swapped, or keys move within one")}
	}
	if err != nil {
		k.stopAll(nodes, m.ID)
		return nil, err
	}
	for i, node := range nodes {
		part := moment.Part{Node: node, KeysAbout: released[i].KeysAbout, BytesAbout: released[i].BytesAbout}
		for _, span := range spansOf(rowsOf(held[i].Rows)) {
			part.Ranges = append(part.Ranges, span.String())
		}
		m.Parts = append(m.Parts, part)
		m.PauseMS = max(m.PauseMS, float64(released[i].HeldMicros)/1000)
	}
	return m, nil
}

// askAll asks all nodes at once. The error is that of a node that another attempt may not help, if there is one.
func (k *Keeper) askAll(ctx context.Context, nodes []string, q *request) ([]answer, error) {
	answers, errs := make([]answer, len(nodes)), make([]error, len(nodes))
	var all sync.WaitGroup
	for i, node := range nodes {
		all.Go(func() {
			reply, err := k.ask(ctx, node, q)
			if err != nil {
				errs[i] = errAgain{err}
				return
			}
			a, _, err := decode(reply)
			switch {
			case err != nil:
				errs[i] = fmt.Errorf("node %s: %w", node, err)
			case a.Again:
				errs[i] = errAgain{errors.New(a.Error)}
			case a.Error != "":
				errs[i] = errors.New(a.Error)
			}
			answers[i] = a
		})
	}
	all.Wait()
	slices.SortStableFunc(errs, func(a, b error) int { return cmp.Compare(weight(b), weight(a)) })
	return answers, errs[0]
}

// weight orders errors by what they say about another attempt.
func weight(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.As(err, new(errAgain)):
		return 1
	}
	return 2
}

// stopAll lets go of an attempt that has failed, as far as nodes can be reached: the others do so by themselves.
func (k *Keeper) stopAll(nodes []string, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = k.askAll(ctx, nodes, &request{Verb: verbStop, ID: id})
}

func rowsOf(rows []row) []ring.Row {
	var all []ring.Row
	for _, r := range rows {
		all = append(all, ring.Row{Range: ring.Range{Start: ring.Token(r.Start), End: ring.Token(r.End)}, Epoch: r.Epoch})
	}
	return all
}

// covers returns an error unless the rows of all nodes have each token once.
func covers(answers []answer) error {
	var all []ring.Range
	for _, a := range answers {
		for _, r := range rowsOf(a.Rows) {
			all = append(all, r.Range.Cut(1)...)
		}
	}
	slices.SortFunc(all, func(a, b ring.Range) int { return cmp.Compare(a.Start, b.Start) })
	at := ring.Token(0)
	for i, r := range all {
		if r.Start != at || i > 0 && at == 0 {
			return errAgain{fmt.Errorf("at token %08x, no node serves the keys, or two do: ranges are changing hands", uint32(at))}
		}
		at = r.End
	}
	if len(all) == 0 || at != 0 {
		return errAgain{fmt.Errorf("no node serves the keys at token %08x", uint32(at))}
	}
	return nil
}
