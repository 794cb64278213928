package acl_test

import (
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
)

// A connection tells by its user whether its rights have changed, and discards a transaction then.
func TestDefaultUserIsTheSameWhenOtherThingsChange(t *testing.T) {
	r := registry(t)
	if err := r.Open("secret"); err != nil {
		t.Fatal(err)
	}
	before, users := r.Now().Default(), r.Now()
	replica, err := (*agreed.Values)(nil).With([]agreed.Change{{Name: agreed.ReplicaofName, Body: "{}"}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	r.Set(nil, 1, 2)
	if r.Now() != users {
		t.Error("users are replaced though nothing about them has changed")
	}
	r.Set(replica, 1, 3)
	if r.Now().MayWrite() {
		t.Error("clients of a replica may write")
	}
	if err := r.SetUser(t.Context(), "other", []string{"on"}); err != nil {
		t.Fatal(err)
	}
	if r.Now().Default() != before || r.Now().Get("other") == nil {
		t.Error("another user has changed the default one")
	}
	if r.Now().MayWrite() {
		t.Error("clients of a replica may write since a user has changed")
	}
	r.SetPassword("another")
	if r.Now().Default() == before || r.Now().MayWrite() {
		t.Error("the default user has its old password, or clients of a replica may write")
	}
}
