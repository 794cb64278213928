package sightings

import (
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/members"
)

func TestSightingsBeginWithTheFirstChange(t *testing.T) {
	var s Sightings
	noon := time.Unix(1_800_000_000, 0)
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	s.Look([]members.Node{{ID: "a", Status: members.Alive}}, at(0))
	if s.Since("a") != nil || s.Since("b") != nil {
		t.Error("a time before the first look")
	}
	s.Look([]members.Node{{ID: "a", Status: members.Alive}, {ID: "b", Status: members.Alive}}, at(1))
	s.Look([]members.Node{{ID: "a", Status: members.Failed}, {ID: "b", Status: members.Alive}}, at(2))
	s.Look([]members.Node{{ID: "a", Status: members.Failed}, {ID: "b", Status: members.Alive}}, at(3))
	if since := s.Since("a"); since == nil || !since.Equal(at(2)) {
		t.Errorf("%v", since)
	}
	if since := s.Since("b"); since == nil || !since.Equal(at(1)) {
		t.Errorf("%v", since)
	}
	s.Look(nil, at(4))
	if s.Since("a") != nil {
		t.Error("who is forgotten is still known")
	}
}
