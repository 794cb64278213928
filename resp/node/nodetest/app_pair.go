package nodetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// AppPairs writes two keys at a time in transactions, so that both always hold the same. It is
// the only one to write its keys. Its Doer keeps one connection until a command fails, as
// transactions are of a connection. Only one goroutine may use a Pairs at a time.
type AppPairs struct {
	// Name begins all its keys.
	Name string
	// Done and Failed are how many transactions and reads got an answer, and how many an error.
	Done, Failed int64
	// Wrong is the first answer that nothing can excuse.
	Wrong error

	n      int                 // counts values
	born   int                 // counts pairs
	states map[string][]string // what each pair may hold
}

// tag is what both keys of the present pair have in common.
func (p *AppPairs) tag() string { return fmt.Sprintf("{%s:%d}", p.Name, p.born) }

// errBroken is the end of a connection that is not to be used again.
var errBroken = errors.New("the transaction was not begun as a whole")

// Run makes transactions, one after the other, until stop is closed or something is wrong.
func (p *AppPairs) Run(do Doer, stop <-chan struct{}) {
	if p.states == nil {
		p.states = map[string][]string{p.tag(): {""}}
	}
	for p.Wrong == nil {
		select {
		case <-stop:
			return
		default:
		}
		err := p.step(do)
		if err == nil {
			p.Done++
			continue
		}
		p.Failed++
		time.Sleep(20 * time.Millisecond)
	}
}

func (p *AppPairs) step(do Doer) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tag := p.tag()
	if p.n%4 == 3 {
		p.n++
		return p.read(ctx, do, tag)
	}
	p.n++
	value := fmt.Sprintf("<%s:%d>", p.Name, p.n)
	for _, args := range [][]string{{"MULTI"}, {"SET", tag + "a", value}, {"SET", tag + "b", value}} {
		if _, err := do(ctx, args...); err != nil {
			// Nothing was executed. What was queued goes with the connection, or by this.
			_, again := do(ctx, "DISCARD")
			return errors.Join(errBroken, err, again)
		}
	}
	got, err := do(ctx, "EXEC")
	if err != nil {
		p.states[tag] = append(p.states[tag], value)
		p.born++ // what is on its way may still arrive
		p.states[p.tag()] = []string{""}
		return err
	}
	if got != "OK,OK" {
		p.Wrong = fmt.Errorf("EXEC of %s answers %.60q", tag, got)
	}
	p.states[tag] = []string{value}
	return nil
}

// read compares both keys with what they may hold.
func (p *AppPairs) read(ctx context.Context, do Doer, tag string) error {
	got, err := do(ctx, "MGET", tag+"a", tag+"b")
	if err != nil {
		return err
	}
	a, b, _ := strings.Cut(got, ",")
	if a != b || !slices.Contains(p.states[tag], a) {
		p.Wrong = fmt.Errorf("%s holds %.60q and %.60q, none of the %d values that both may have, such as %.60q",
			tag, a, b, len(p.states[tag]), p.states[tag][0])
	}
	return nil
}

// Check compares all that was ever written with what it may hold. Run must have ended.
func (p *AppPairs) Check(do Doer) error {
	for tag := range p.states {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		err := p.read(ctx, do, tag)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", tag, err)
		}
	}
	return p.Wrong
}
