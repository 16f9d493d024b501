// Package tagger finds the names in English sentences with an averaged
// perceptron over BIO labels, decoded with Viterbi.
//
// Everything is integer arithmetic over sorted data, so that the same weights
// give the same answer, and the same training data and seed the same weights,
// on every machine.
package tagger
