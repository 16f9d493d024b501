// Package doctest runs every command of the documentation, as a reader would, in
// a fresh copy of the repository. It has no code outside its tests.
package doctest
