// Package highwater keeps, beside the files of a table, how far these had come: so that an older copy of
// one of them, which looks whole, is noticed. It does not read those files.
//
// Read [Progress] first.
package highwater
