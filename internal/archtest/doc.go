// Package archtest states which way dependencies may point, each rule with its
// reason, and checks them over the import graph of the whole module. It has no
// code outside its tests.
package archtest
