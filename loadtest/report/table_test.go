package report

import (
	"bytes"
	"strings"
	"testing"
)

func tableText(t *testing.T, r *Report, o TableOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Table(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestX(t *testing.T) {
	for _, n := range strings.Fields("usual interrupted servers nobody") {
		t.Log("\n" + tableText(t, odd()[n], TableOptions{}))
	}
}
