package damage

import "errors"

// Err says that the directory holds less than was made durable.
var Err = errors.New("data directory is damaged")

// Cure is what an operator can do about a damaged directory.
const Cure = "restore the directory from a copy, or, if other nodes have copies of its data, start this node with an empty one"
