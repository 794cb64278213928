package status

import "strconv"

func (d *drawing) handoffs() {
	if len(d.r.Handoffs) == 0 {
		d.out.WriteString("\nno handoffs\n")
		return
	}
	shown := d.r.Handoffs
	if len(shown) > mostHandoffs {
		shown = shown[:mostHandoffs]
	}
	d.out.WriteString("\n" + tabulate(d, shown, handoffColumns))
	if more := len(d.r.Handoffs) - len(shown); more > 0 {
		d.line("and %d more", more)
	}
	for i := range shown {
		if h := &shown[i]; h.Waits != "" {
			d.line("%d waits: %s", h.ID, h.Waits)
		}
	}
}

func handoffColumns(label map[string]string) []column[Handoff] {
	copied := func(h *Handoff, text string) string {
		if h.BytesTotal == 0 && h.KeysTotal == 0 {
			return none
		}
		return text
	}
	return []column[Handoff]{
		{head: "handoff", get: func(h *Handoff) string { return strconv.FormatUint(h.ID, 10) }},
		{head: "from → to", left: true, get: func(h *Handoff) string { return label[h.From] + " → " + label[h.To] }},
		{head: "phase", left: true, get: func(h *Handoff) string { return clip(printable(h.Phase), 12) }},
		{head: "ranges", get: func(h *Handoff) string { return strconv.Itoa(h.Ranges) }},
		{head: "keys", more: 5, get: func(h *Handoff) string { return copied(h, counts.of(h.KeysDone, h.KeysTotal)) }},
		{head: "bytes", get: func(h *Handoff) string { return copied(h, sizes.of(h.BytesDone, h.BytesTotal)) }},
		{head: "MiB/s", get: func(h *Handoff) string {
			if !(h.Rate > 0 && h.Rate < 1<<50) {
				return none
			}
			return sizes.in(h.Rate, 2)
		}},
		{head: "left", get: func(h *Handoff) string {
			if h.Left == nil {
				return none
			}
			return seconds(*h.Left)
		}},
	}
}
