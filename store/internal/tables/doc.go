// Package tables reads tables of Pebble file by file: also what has been deleted and is still in them, which no iterator
// of Pebble's shows. Damage in it keeps tables from being merged all the same.
package tables
