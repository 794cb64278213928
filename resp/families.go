package resp

// newCommandTable makes the table of all commands. It panics if a row is broken,
// which the tests would have found.
func newCommandTable() *commandTable {
	t := buildCommandTable(
		connectionCommands,
		transactionCommands,
		scriptCommands,
		serverCommands,
		genericCommands,
		keyCommands,
		stringCommands,
		bitmapCommands,
		hashCommands,
		setCommands,
		listCommands,
		blockingListCommands,
		streamCommands,
		hyperloglogCommands,
		sortCommands,
		memoryCommands,
		latencyCommands,
		aclCommands,
		functionCommands,
		adminCommands,
		pubsubCommands,
		zsetCommands,
		blockingSortedSetCommands,
		zsetRangeCommands,
		geoCommands,
		clusterCommands,
		ringCommands,
	)
	for _, c := range t.all {
		if c.keysOfExec {
			c.within = func(args [][]byte, dst []keyRef) ([]keyRef, error) { return keysOfExec(t, args, dst) }
			c.as = t.byName["exec"]
		}
	}
	return t
}
