package uplot

import _ "embed"

var (
	// Script is the library.
	//
	//go:embed uPlot.iife.min.js
	Script string
	// Style is its style sheet.
	//
	//go:embed uPlot.min.css
	Style string
)
