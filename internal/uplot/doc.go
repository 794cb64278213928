// Package uplot has uPlot, the library that draws the charts of all pages. Its licence lies beside it.
package uplot
