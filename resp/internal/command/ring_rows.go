package command

// RingQuery is a row of RING that any client may ask for.
func RingQuery(name string, arity int, run func(*Call)) *Row {
	return &Row{
		Name: name, Arity: arity, Group: "cluster", Run: run,
		Flags: FlagLoading | FlagStale,
		Tips:  []string{"nondeterministic_output"},
	}
}

// RingGuest is a row of RING that nodes send each other, and that may wait.
func RingGuest(name string, arity int, run func(*Call)) *Row {
	return &Row{
		Name: name, Arity: arity, Group: "cluster", Run: run,
		Between: true, Waits: true,
		Flags: FlagNoScript | FlagStale | FlagAdmin | FlagSystem,
	}
}

// RingWhole is a row of RING that nodes send each other about several keys. Its keys are
// found by code, but for those of WATCH.
func RingWhole(name string, arity int, run func(*Call), access Flag) *Row {
	flags := "RW access update"
	if access == FlagReadonly {
		flags = "RO access"
	}
	specs := []KeySpec{{Flags: flags, Unknown: true}}
	if name == "watch" {
		specs = []KeySpec{{Flags: flags, Index: 2, Last: -1, Step: 1}}
	}
	return &Row{
		Name: name, Arity: arity, Group: "cluster", Run: run, Keys: specs,
		Between: true, KeysOfExec: name != "watch",
		Flags: access | FlagNoScript | FlagStale | FlagSystem | FlagSkipMonitor,
		Frees: access == FlagWrite, // its commands are judged one by one
	}
}

// RingRehome is a row of RING that a node sends to owners of keys that move within their database:
// data and step, and the keys.
func RingRehome(name string, run func(*Call), keys KeySpec) *Row {
	access := FlagWrite
	if name == "fetch" {
		access = FlagReadonly
	}
	return &Row{
		Name: name, Arity: -5, Group: "cluster", Run: run, Keys: []KeySpec{keys},
		Between: true, Rehomes: true, Latched: true, Frees: name == "drop",
		Flags: access | FlagNoScript | FlagStale | FlagSystem | FlagSkipMonitor,
	}
}

// RingOrder is a row of RING that changes the cluster, or asks it for a plan.
func RingOrder(name string, arity int, run func(*Call)) *Row {
	return &Row{
		Name: name, Arity: arity, Group: "cluster", Run: run,
		Waits: true,
		Flags: FlagAdmin | FlagNoScript | FlagStale,
	}
}
