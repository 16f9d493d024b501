// Package alive reads what the workers of a fleet say of themselves, and tells on which
// settings they do not agree.
package alive
