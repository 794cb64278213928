package types

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/bitmaps"
	"github.com/ringside-kv/ringside/resp/internal/types/bloom"
	"github.com/ringside-kv/ringside/resp/internal/types/geo"
	"github.com/ringside-kv/ringside/resp/internal/types/hashes"
	"github.com/ringside-kv/ringside/resp/internal/types/hyperloglogs"
	"github.com/ringside-kv/ringside/resp/internal/types/json"
	"github.com/ringside-kv/ringside/resp/internal/types/keys"
	"github.com/ringside-kv/ringside/resp/internal/types/lists"
	"github.com/ringside-kv/ringside/resp/internal/types/sets"
	"github.com/ringside-kv/ringside/resp/internal/types/streams"
	"github.com/ringside-kv/ringside/resp/internal/types/strings"
	"github.com/ringside-kv/ringside/resp/internal/types/zsets"
)

// Commands are the rows of all families.
var Commands = [][]command.Row{
	keys.Commands,
	strings.Commands,
	bitmaps.Commands,
	hashes.Commands,
	sets.Commands,
	lists.Commands,
	lists.BlockingCommands,
	streams.Commands,
	hyperloglogs.Commands,
	keys.SortCommands,
	zsets.Commands,
	zsets.BlockingCommands,
	zsets.RangeCommands,
	geo.Commands,
	json.Commands,
	bloom.Commands,
}
