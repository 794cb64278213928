package resp

type lobby struct{}

func (c *lobby) leave() {}
