package show

import (
	"os"
	"testing"
)

func TestLook(t *testing.T) {
	f, _ := os.Create("/tmp/page2.html")
	if err := HTML(f, fake{nodes: 1000, steps: 40, seed: 1}.report(), PageOptions{Command: "ringside simulate --seed 1", Version: "v1"}); err != nil {
		t.Fatal(err)
	}
	f.Close()
}
