// Package chart draws charts as SVG, for a page or for a file, all in one style: with
// colours that everybody can tell apart, on light and dark pages, with round ticks and
// with words for those who do not see them.
//
// It owns how charts look. It does not own what they show.
//
// Read Picture first, then Look.
package chart
