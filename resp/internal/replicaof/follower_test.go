package replicaof

import (
	"errors"
	"testing"
	"time"
)

func TestSameFailureIsLoggedNowAndThen(t *testing.T) {
	var f failures
	one, other := errors.New("one"), errors.New("other")
	for i, test := range []struct {
		err  error
		want bool
	}{{one, true}, {one, false}, {other, true}, {one, true}, {one, false}} {
		if got := f.isNew(test.err); got != test.want {
			t.Errorf("failure %d, %v: %v", i, test.err, got)
		}
	}
	f.at = f.at.Add(-failurePeriod - time.Second)
	if !f.isNew(one) {
		t.Error("a failure of long ago is not logged again")
	}
}
