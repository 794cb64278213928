package backup

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// TestLastConnectionOfBackupIsFound ends connections that use backups, in several orders.
func TestLastConnectionOfBackupIsFound(t *testing.T) {
	t.Parallel()
	c := newClients()
	heard := make(chan string, 100)
	lost := func(_ context.Context, id string, nodes []string) {
		slices.Sort(nodes)
		heard <- fmt.Sprint(id, nodes)
	}
	first, second, third := make(chan struct{}), make(chan struct{}), make(chan struct{})
	c.use(first, "x", []string{"a", "b"}, lost)
	c.use(first, "x", []string{"b"}, lost)
	c.use(second, "x", []string{"b", "c"}, lost)
	c.use(second, "y", []string{"a"}, lost)
	close(second) // x has another connection
	if got := <-heard; got != "y[a]" {
		t.Error(got)
	}
	close(first)
	if got := <-heard; got != "x[a b]" {
		t.Error(got)
	}
	c.use(first, "z", []string{"a"}, lost) // too late
	if got := <-heard; got != "z[a]" {
		t.Error(got)
	}
	// Backups that were stopped are forgotten, and so are those that are too many.
	for i := range 3 * maxFollowed {
		c.use(third, fmt.Sprint(i), []string{"a", "b"}, lost)
	}
	if n := len(c.conns[third].nodes); n != maxFollowed {
		t.Errorf("%d backups of one connection", n)
	}
	for i := range 3 * maxFollowed {
		c.stop(fmt.Sprint(i), "a")
		c.stop(fmt.Sprint(i), "b")
	}
	if len(c.conns) > 0 {
		t.Errorf("%d connections are left", len(c.conns))
	}
	close(third)
	c.use(make(chan struct{}), "w", []string{"a"}, lost)
	c.close()
	c.use(first, "v", []string{"a"}, lost)
	if len(heard) > 0 {
		t.Error(<-heard)
	}
}
