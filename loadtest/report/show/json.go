package show

import (
	"encoding/json"
	"io"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// JSON writes the report as it is, indented. The fields are those of [sim.Report].
func JSON(w io.Writer, r *sim.Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
