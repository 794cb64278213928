package report

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

// Picture writes one picture of a report as SVG, for a README: what was compared, and by event what
// moved against the least possible, how even the load was afterwards, and the throughput meanwhile.
// Parts of which nothing is known are left out.
func Picture(w io.Writer, r *result.Report) error {
	lines := append([]string{verdict(r)}, headingLines(r)...)
	p := picture{names: names(r), about: verdict(r)}
	var parts []titledBars
	for _, one := range []struct {
		key, title string
		even       bool
	}{{"moved/least", "Keys moved ÷ the least possible", true}, {"keys-max/mean", "Keys of the fullest node ÷ its fair share, after the event", true}, {"throughput", "Operations each second during the event", false}} {
		if b := eventBars(r, figureNamed(lists().Event, one.key), one.even, mostPictureGroups); b != nil {
			parts = append(parts, titledBars{one.title, b})
		}
	}
	_, err := io.WriteString(w, p.draw(lines, parts))
	return err
}

// SimulationPicture writes one picture of a report as SVG, for a README: what the first steps
// moved against the least possible, and how even the keys lay after each. It does not depend on times, so that
// the same settings make the same picture.
func SimulationPicture(w io.Writer, r *sim.Report) error {
	p := picture{names: contenderNames(r.Contenders), about: simVerdict(r)}
	var parts []titledBars
	if len(r.Steps) > 1 {
		parts = []titledBars{
			{"Keys moved ÷ the least possible", figureBars(r, figureNamed(lists().Step, "moved/least"), true)},
			{"Keys of the fullest node ÷ its fair share, after the step", figureBars(r, figureNamed(lists().Balance, "keys-max/mean"), false)},
		}
	}
	_, err := io.WriteString(w, p.draw(append([]string{simVerdict(r)}, settingsLines(r)...), parts))
	return err
}

const mostPictureGroups = 16

type titledBars struct {
	title string
	bars  *bars
}

// Lengths of a picture, in pixels.
const (
	pictureWidth = 800
	pictureEdge  = 14
	letterWidth  = 6.4 // of text of 12 pixels, on average
	groupName    = 180
	barHeight    = 13
	barText      = 150
)

// A picture is SVG on white, from top to bottom.
type picture struct {
	names []string
	about string
	b     strings.Builder
	y     float64
}

var contestantColors = regexp.MustCompile(`--c\d+: (#\w+)`).FindAllStringSubmatch(pageStyle, -1)

func (p *picture) color(i int) string {
	return contestantColors[colors(p.names)[i]%len(contestantColors)][1]
}

func (p *picture) text(x float64, style, text string) {
	fmt.Fprintf(&p.b, `<text x="%.4g" y="%.5g"%s>%s</text>`+"\n", x, p.y, style, html.EscapeString(Printable(text)))
}

func (p *picture) draw(lines []string, parts []titledBars) string {
	p.y = pictureEdge
	for i, line := range lines {
		style := ` fill="#59636e"`
		if i == 0 {
			style = ` font-weight="bold"`
		}
		for _, part := range Wrap(line, 120, 4) {
			p.y += 16
			p.text(pictureEdge, style, part)
		}
	}
	p.legend()
	for _, part := range parts {
		p.bars(part)
	}
	height := p.y + pictureEdge
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %[1]d %.0[2]f" role="img" font-family="Helvetica,Arial,Liberation Sans,sans-serif" font-size="12" fill="#1f2328">
<title>%[3]s</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
%[4]s</svg>
`, pictureWidth, height, html.EscapeString(Printable(p.about)), p.b.String())
}

func (p *picture) legend() {
	p.y += 24
	x := float64(pictureEdge)
	for i, name := range p.names {
		name = Clip(Printable(name), 24)
		width := 24 + letterWidth*float64(Width(name)+1)
		if x+width > pictureWidth-pictureEdge {
			x, p.y = pictureEdge, p.y+18
		}
		fmt.Fprintf(&p.b, `<rect x="%.4g" y="%.5g" width="12" height="12" rx="2" fill="%s"/>`+"\n", x, p.y-10, p.color(i))
		p.text(x+18, "", name)
		x += width
	}
}

func (p *picture) bars(part titledBars) {
	p.y += 30
	p.text(pictureEdge, ` font-weight="bold" font-size="13"`, part.title)
	p.y += 8
	high := 0.0
	for _, g := range part.bars.Groups {
		for _, v := range g.Values {
			if v.At != nil {
				high = max(high, *v.At)
			}
		}
	}
	if level := part.bars.Level; level != nil {
		high = min(max(high, *level), 4**level) // what towers above the rest is cut
	}
	const left, room = pictureEdge + groupName, pictureWidth - 2*pictureEdge - groupName - barText
	length := func(x float64) float64 { return room * min(x, high) / max(high, 1e-9) }
	for _, g := range part.bars.Groups {
		p.y += 8
		top := p.y
		for i, v := range g.Values {
			p.y += barHeight
			if i == 0 {
				p.text(pictureEdge, "", Clip(g.Name, 27))
			}
			if v.At != nil {
				fmt.Fprintf(&p.b, `<rect x="%d" y="%.5g" width="%.5g" height="%d" fill="%s"/>`+"\n", left, p.y-10, length(*v.At), barHeight-2, p.color(i))
				if *v.At > high {
					fmt.Fprintf(&p.b, `<path d="M%d %.5gv%d" stroke="#ffffff" stroke-width="3"/>`+"\n", left+room-14, p.y-10, barHeight-2)
				}
			}
			if v.Low != nil && *v.High > *v.Low {
				fmt.Fprintf(&p.b, `<path d="M%.5g %.5gH%.5g" stroke="#1f2328" stroke-width="1.5"/>`+"\n", left+length(*v.Low), p.y-4.5, left+length(*v.High))
			}
			style := ` font-size="11"`
			if v.Best {
				style += ` font-weight="bold"`
			}
			p.text(left+room+8, style, v.Text)
		}
		if level := part.bars.Level; level != nil {
			fmt.Fprintf(&p.b, `<path d="M%.5g %.5gV%.5g" stroke="#1f2328" stroke-width="1.5"/>`+"\n", left+length(*level), top+1, p.y+3)
		}
	}
}
