// Package planning compares the placement that there is with one that there would be.
package planning
