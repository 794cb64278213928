package table

// maxCompared is how many parts one command tells of, and so how many bytes it has.
const maxCompared = 4096

// Compared remembers when parts of the circle were compared with their backups. It
// compares nothing: which node has a part does not matter to that, and of two
// that tell of the same the last one holds.
type Compared struct {
	Parts []Comparison
}

func (*Compared) kind() kind { return kindCompared }

func (p *Compared) code(c *codec) {
	list(c, &p.Parts, 9, func(part *Comparison) {
		c.span(&part.Range)
		c.signed(&part.At)
	})
}

// apply leaves the basis as it is, and all rows and their versions.
func (p *Compared) apply(d *draft) error {
	if len(p.Parts) == 0 || len(p.Parts) > maxCompared {
		return refuse(ErrInvalid, "%d parts that were compared", len(p.Parts))
	}
	for _, part := range p.Parts {
		if part.At <= 0 {
			return refuse(ErrInvalid, "%v was compared at second %d", part.Range, part.At)
		}
	}
	next := d.comparisons.With(p.Parts...)
	if len(next.from) > maxRows {
		return refuse(ErrTooMany, "%d parts compared at times of their own, %d are allowed", len(next.from), maxRows)
	}
	d.comparisons = next
	return nil
}
